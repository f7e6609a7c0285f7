import FeedStream
import FeedStreamTesting
import TestSupport
import Testing

@Suite(.settled) struct WithLatestFromTests {
  @Test func `withLatestFrom pairs each value with the newest of the other`() {
    withVirtualTime { time in
      let recorder = time.hot("a-b-c|").withLatestFrom(time.hot("-1-2-")) { $0 + $1 }.record(on: time)
      time.run()
      recorder.expect("--x-y|", values: ["x": "b1", "y": "c2"])
    }
  }

  @Test func `withLatestFrom requests another value for each one that it drops`() {
    let other = CurrentValueSubject<Int, Never>(7)
    let recorder = [1, 2].publisher.withLatestFrom(other, +).record(demand: .max(1))
    #expect(recorder.values == [8])
    let never = PassthroughSubject<Int, Never>()
    let left = [1, 2].publisher.withLatestFrom(never, +).record(demand: .max(1))
    #expect(left.values.isEmpty)
    #expect(left.completion == .finished)
  }

  @Test func `withLatestFrom keeps the last value of a finished other publisher`() {
    #expect([1, 2].publisher.withLatestFrom(Just(5), +).record().values == [6, 7])
  }

  @Test func `withLatestFrom finishes when the other publisher finishes without a value, and cancels upstream`() {
    var isCancelled = false
    let upstream = PassthroughSubject<Int, Boom>()
    let other = PassthroughSubject<Int, Boom>()
    let recorder = upstream.handleEvents(receiveCancel: { isCancelled = true }).withLatestFrom(other)
      .record()
    other.send(completion: .finished)
    #expect(recorder.completion == .finished)
    #expect(isCancelled)
    let failed = upstream.withLatestFrom(Fail<Int, Boom>(error: Boom())).record()
    #expect(failed.subscribedAt != nil)
    #expect(failed.failure == Boom())
  }

  @Test func `withLatestFrom mixes publishers that can and can't fail`() {
    let failing = Just(2).setFailureType(to: Boom.self)
    let sums: [AnyPublisher<Int, Boom>] = [
      failing.withLatestFrom(Just(1)).map { $0 + $1 }.eraseToAnyPublisher(),
      failing.withLatestFrom(Just(1)) { $0 + $1 }.eraseToAnyPublisher(),
      Just(1).withLatestFrom(failing).map { $0 + $1 }.eraseToAnyPublisher(),
      Just(1).withLatestFrom(failing) { $0 + $1 }.eraseToAnyPublisher(),
    ]
    for sum in sums { sum.record().expect("(3|)") }
  }
}
