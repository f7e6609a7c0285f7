import FeedStream
import FeedStreamTesting
import TestSupport
import Testing

@Suite(.settled) struct ShareResettingTests {
  /// A publisher that counts its subscriptions.
  private func counted<Failure: Error>(
    _ source: PassthroughSubject<Int, Failure>, _ count: @escaping (Int) -> Void
  ) -> AnyPublisher<Int, Failure> {
    source.handleEvents(
      receiveSubscription: { _ in count(1) }, receiveCompletion: { _ in count(-1) }, receiveCancel: { count(-1) }
    ).eraseToAnyPublisher()
  }

  @Test func `without resets, a subscriber after the completion receives the completion`() {
    var runs = 0
    let shared = Deferred {
      runs += 1
      return [1].publisher
    }.share(resetOnError: true)
    shared.record().expect("(1|)")
    shared.record().expect("|")
    #expect(runs == 1)
  }

  @Test func `with resetOnComplete, a subscriber after completion subscribes upstream again`() {
    var runs = 0
    let shared = Deferred {
      runs += 1
      return Just(runs)
    }.share(resetOnComplete: true)
    #expect(shared.record().values == [1])
    #expect(shared.record().values == [2])
    #expect(runs == 2)
  }

  @Test func `with resetOnError, retry after share subscribes upstream again`() {
    var runs = 0
    let source = Deferred {
      runs += 1
      return runs < 3
        ? Fail<Int, Boom>(error: Boom()).eraseToAnyPublisher()
        : Just(runs).setFailureType(to: Boom.self).eraseToAnyPublisher()
    }
    #expect(source.share(resetOnError: true).retry(5).record().values == [3])
    #expect(runs == 3)
    runs = 0
    #expect(source.share(resetOnComplete: true).retry(5).record().failure != nil)
    #expect(runs == 1)
  }

  @Test func `all subscribers receive the failure, and share the next subscription`() {
    var active = 0
    var runs = 0
    var source = PassthroughSubject<Int, Boom>()
    let shared = Deferred {
      self.counted(source) {
        active += $0
        runs += max($0, 0)
      }
    }.share(resetOnError: true)
    let (first, second) = (shared.record(), shared.record())
    let failing = source
    source = PassthroughSubject()
    failing.send(completion: .failure(Boom()))
    #expect(first.failure != nil && second.failure != nil)
    let (third, fourth) = (shared.record(), shared.record())
    source.send(1)
    #expect(third.values == [1] && fourth.values == [1])
    #expect(runs == 2)
    third.cancel()
    #expect(active == 1)
    fourth.cancel()
    #expect(active == 0)
  }

  @Test func `without resetOnRefCountZero, upstream runs until the share is released`() {
    var active = 0
    let source = PassthroughSubject<Int, Never>()
    var shared: Publishers.ShareResetting? = counted(source) { active += $0 }.share(resetOnRefCountZero: false)
    let first = shared?.record()
    first?.cancel()
    #expect(active == 1)
    let second = shared?.record()
    source.send(1)
    #expect(second?.values == [1])
    second?.cancel()
    shared = nil
    #expect(active == 0)
  }

  @Test func `a share that isn't retained runs while it has subscribers`() {
    var active = 0
    let source = PassthroughSubject<Int, Never>()
    let recorder = counted(source) { active += $0 }.share(resetOnRefCountZero: false).record()
    source.send(1)
    #expect(recorder.values == [1])
    recorder.cancel()
    #expect(active == 0)
  }
}
