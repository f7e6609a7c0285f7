import FeedStream
import FeedStreamTesting
import TestSupport
import Testing

@Suite(.settled) struct CombineLatestManyTests {
  @Test func `combineLatest of a collection delivers once every publisher has a value`() {
    withVirtualTime { time in
      let recorder = [time.hot("a--b--|"), time.hot("-1--2|")].combineLatest().record(on: time)
      time.run()
      recorder.expect("-x-yz-|", values: ["x": ["a", "1"], "y": ["b", "1"], "z": ["b", "2"]])
    }
  }

  @Test func `the first failure fails combineLatest of a collection and cancels the others`() {
    var cancelled = 0
    let a = PassthroughSubject<Int, Boom>()
    let b = PassthroughSubject<Int, Boom>()
    let counted = [a, b].map { $0.handleEvents(receiveCancel: { cancelled += 1 }) }
    let recorder = counted.combineLatest().record()
    a.send(completion: .failure(Boom()))
    #expect(recorder.failure == Boom())
    #expect(cancelled == 1)
  }

  @Test func `a completed or cancelled combineLatest releases everything it held`() {
    weak var held: Held?
    do {
      let object = Held()
      held = object
      [Just(1).map { [object] in ($0, object) }].combineLatest().sink { _ in }.cancel()
    }
    #expect(held == nil)
  }
}

private final class Held {}
