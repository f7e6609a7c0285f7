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

  @Test func `withLatestFrom completes before upstream delivers if the other publisher has completed`() {
    var delivered: [Int] = []
    let upstream = [1, 2, 3].publisher.setFailureType(to: Boom.self)
      .handleEvents(receiveOutput: { delivered.append($0) })
    let failed = upstream.withLatestFrom(Fail<Int, Boom>(error: Boom())).record()
    #expect(failed.subscribedAt != nil)
    #expect(failed.failure == Boom())
    #expect(upstream.withLatestFrom(Empty<Int, Boom>()).record().completion == .finished)
    let other = Just(1).setFailureType(to: Boom.self).append(Fail<Int, Boom>(error: Boom()))
    #expect(upstream.withLatestFrom(other).record().failure == Boom())
    #expect(delivered.isEmpty)
  }

  @Test func `nothing follows when a subscriber cancels a stream that is complete on subscription`() {
    let upstream = PassthroughSubject<Int, Boom>()
    var completions = 0
    upstream.withLatestFrom(Fail<Int, Boom>(error: Boom())).subscribe(
      AnySubscriber(
        receiveSubscription: { $0.cancel() }, receiveValue: { _ in .none },
        receiveCompletion: { _ in completions += 1 }))
    #expect(completions == 0)
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
