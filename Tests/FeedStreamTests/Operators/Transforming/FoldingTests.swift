import FeedStream
import TestSupport
import Testing

@Suite("pairwise, enumerated, scan(into:), reduce(into:), takeLast, prefix inclusive, materialize", .settled)
struct FoldingTests {
  let time = MarbleTime()

  @Test func `pairwise asks again for the first value, which has none before it`() {
    let recorder = [1, 2, 3].publisher.eraseToAnyPublisher().pairwise().map { "\($0)\($1)" }
      .record(on: time, asking: .max(1))
    #expect(recorder.values == ["12"])
    recorder.request(.max(1))
    #expect(recorder.values == ["12", "23"])
  }

  @Test func `enumerated counts anew for each subscription`() {
    let places = ["a", "b"].publisher.enumerated().map { "\($0.offset)\($0.element)" }
    #expect(places.record(on: time).values == ["0a", "1b"])
    #expect(places.record(on: time).values == ["0a", "1b"])
  }

  @Test func `scan into delivers each result, reduce into the last`() {
    #expect([1, 2].publisher.scan(into: []) { $0.append($1) }.record(on: time).values == [[1], [1, 2]])
    #expect([1, 2].publisher.reduce(into: []) { $0.append($1) }.record(on: time).values == [[1, 2]])
    #expect(Empty<Int, Never>().reduce(into: 7) { $0 += $1 }.record(on: time).values == [7])
  }

  @Test func `takeLast delivers the last values as asked for, and the ending with the last`() {
    let recorder = (1...5).publisher.takeLast(2).record(on: time, asking: .max(1))
    #expect(recorder.values == [4])
    #expect(recorder.completion == nil)
    recorder.request(.max(1))
    #expect(recorder.values == [4, 5])
    #expect(recorder.completion == .finished)
  }

  @Test func `takeLast of nothing, of too few and of a failure`() {
    #expect((1...5).publisher.takeLast(0).record(on: time, asking: .none).completion == .finished)
    #expect((1...2).publisher.takeLast(9).record(on: time).values == [1, 2])
    let failing = time.cold("ab#").takeLast(1).record(on: time)
    time.advance(by: 3)
    #expect(failing.marbles == "--#")
  }

  @Test func `takeLast of a negative number traps`() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      _ = Just(1).takeLast(-1)
    }
    #expect(result?.says("takeLast(-1)") == true)
  }

  @Test func `prefix while inclusive delivers the first that does not hold`() {
    let recorder = time.cold("abcd|").prefix(while: { $0 < "c" }, inclusive: true).record(on: time)
    time.advance(by: 5)
    #expect(recorder.marbles == "ab(c|)")
    let exclusive = time.cold("abcd|").prefix(while: { $0 < "c" }, inclusive: false).record(on: time)
    time.advance(by: 5)
    #expect(exclusive.values == ["a", "b"])
  }

  @Test func `nothing follows the inclusive last value, not even what is sent while it is delivered`() {
    let subject = PassthroughSubject<Int, Never>()
    let recorder = subject.prefix(while: { $0 < 2 }, inclusive: true).record(on: time)
    recorder.onValue = { if $0 == 2 { subject.send(0) } }
    subject.send(1)
    subject.send(2)
    #expect(recorder.values == [1, 2])
    #expect(recorder.completion == .finished)
  }

  @Test func `materialize makes the ending a value, which waits to be asked for`() {
    let recorder = time.cold("a#").materialize().record(on: time, asking: .max(1))
    time.advance(by: 2)
    #expect(recorder.values == [.value("a")])
    #expect(recorder.completion == nil)
    recorder.request(.max(1))
    #expect(recorder.values == [.value("a"), .completion(.failure(Boom()))])
    #expect(recorder.completion == .finished)
  }

  @Test func `an ending that comes while reduce works on a value counts that value`() {
    let subject = PassthroughSubject<Int, Never>()
    let recorder = subject.reduce(0) { sum, value in
      if value == 2 { subject.send(completion: .finished) }
      return sum + value
    }
    .record(on: time)
    subject.send(1)
    subject.send(2)
    #expect(recorder.values == [3])
    #expect(recorder.completion == .finished)
  }

  @Test func `an ending that comes within a value is delivered on the answer to it`() {
    let subject = PassthroughSubject<Int, Boom>()
    let recorder = subject.materialize().record(on: time, asking: .max(1), andThen: .max(1))
    recorder.onValue = { _ in subject.send(completion: .failure(Boom())) }
    subject.send(1)
    #expect(recorder.values.count == 2)
    #expect(recorder.completion == .finished)
  }

  @Test func `dematerialize undoes materialize`() {
    let recorder = time.cold("ab#").materialize().dematerialize().record(on: time)
    time.advance(by: 3)
    #expect(recorder.marbles == "ab#")
  }

  @Test func `an ending among the signals cancels upstream`() {
    let subject = PassthroughSubject<Signal<Int, Boom>, Never>()
    var isCancelled = false
    let recorder = subject.handleEvents(receiveCancel: { isCancelled = true }).dematerialize().record(on: time)
    subject.send(.value(1))
    subject.send(.completion(.finished))
    subject.send(.value(2))
    #expect(recorder.values == [1])
    #expect(recorder.completion == .finished)
    #expect(isCancelled)
  }
}
