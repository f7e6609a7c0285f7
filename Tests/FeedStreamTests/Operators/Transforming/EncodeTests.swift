import FeedStream
import FeedStreamTesting
import Foundation
import TestSupport
import Testing

@Suite(.settled) struct EncodeTests {
  private struct Item: Codable, Equatable { var name: String }

  @Test func `an encoded value decodes to the same value, as JSON and as a property list`() {
    let items = [Item(name: "a"), Item(name: "b")]
    let json = items.publisher.encode(encoder: JSONEncoder()).decode(type: Item.self, decoder: JSONDecoder())
    #expect(json.record().values == items)
    let list = items.publisher.encode(encoder: PropertyListEncoder())
      .decode(type: Item.self, decoder: PropertyListDecoder())
    #expect(list.record().values == items)
  }

  @Test func `decode fails at the first invalid value and cancels upstream`() {
    var isCancelled = false
    let subject = PassthroughSubject<Data, Boom>()
    let recorder = subject.handleEvents(receiveCancel: { isCancelled = true })
      .decode(type: Item.self, decoder: JSONDecoder()).record()
    subject.send(Data("nonsense".utf8))
    #expect(isCancelled)
    #expect(recorder.failure is DecodingError)
  }
}
