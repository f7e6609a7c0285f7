import FeedStream
import Foundation
import TestSupport
import Testing

@Suite("map by key path, encode, decode, scan, assign", .settled) struct TransformingTests {
  let time = MarbleTime()

  @Test func `map takes one to three key paths`() {
    let words = ["to", "be"].publisher.eraseToAnyPublisher()
    #expect(words.map(\.count).record(on: time).values == [2, 2])
    let pairs = words.map(\.count, \.isEmpty).record(on: time).values
    #expect(pairs.map(\.0) == [2, 2] && pairs.map(\.1) == [false, false])
    let triples = words.map(\.count, \.first, \.last).record(on: time).values
    #expect(triples.map(\.1) == ["t", "b"] && triples.map(\.2) == ["o", "e"])
  }

  private struct Item: Codable, Equatable { var name: String }

  @Test func `what is encoded decodes to itself, as JSON and as a property list`() {
    let items = [Item(name: "a"), Item(name: "b")]
    let json = items.publisher.encode(encoder: JSONEncoder()).decode(type: Item.self, decoder: JSONDecoder())
    #expect(json.record(on: time).values == items)
    let list = items.publisher.encode(encoder: PropertyListEncoder())
      .decode(type: Item.self, decoder: PropertyListDecoder())
    #expect(list.record(on: time).values == items)
  }

  @Test func `decoding fails at the first value it cannot read and cancels upstream`() {
    var isCancelled = false
    let subject = PassthroughSubject<Data, Boom>()
    let recorder = subject.handleEvents(receiveCancel: { isCancelled = true })
      .decode(type: Item.self, decoder: JSONDecoder()).record(on: time)
    subject.send(Data("nonsense".utf8))
    #expect(isCancelled)
    #expect(recorder.error is DecodingError)
  }

  @Test func `each subscription to scan starts afresh`() {
    let sums = [1, 2, 3].publisher.eraseToAnyPublisher().scan(0, +)
    #expect(sums.record(on: time).values == [1, 3, 6])
    #expect(sums.record(on: time).values == [1, 3, 6])
    let tried = [1, 2, 3].publisher.eraseToAnyPublisher().tryScan(0, +)
    #expect(tried.record(on: time).values == [1, 3, 6])
    #expect(tried.record(on: time).values == [1, 3, 6])
  }

  @Test func `assign writes every value and lets the object go at the ending`() {
    final class Label { var text = "" }
    let subject = PassthroughSubject<String, Never>()
    weak var label: Label?
    do {
      let object = Label()
      label = object
      let cancellable = subject.assign(to: \.text, on: object)
      subject.send("a")
      #expect(object.text == "a")
      subject.send(completion: .finished)
      withExtendedLifetime(cancellable) {}
    }
    #expect(label == nil)
  }
}
