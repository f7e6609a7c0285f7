import FeedStream
import Foundation
import Synchronization
import TestSupport
import Testing

/// Operators that join several custom publishers, which deliver on their own threads.
@Suite("Publishers with their own threads", .settled) struct OwnThreadTests {
  /// The kind of thread on which a stream lives.
  enum Place: CaseIterable {
    case loop, nowhere
  }

  @Test(arguments: Place.allCases) func `merge delivers all values`(_ place: Place) async {
    let values = await collected(place) { Numbers(1_000).merge(with: Numbers(1_000), Numbers(1_000)) }
    #expect(values.sorted() == (0..<1_000).flatMap { [$0, $0, $0] })
  }

  @Test(arguments: Place.allCases) func `flatMap delivers all values of inner publishers`(_ place: Place) async {
    let values = await collected(place) { (0..<30).publisher.flatMap { _ in Numbers(100) } }
    #expect(values.sorted() == (0..<100).flatMap { Array(repeating: $0, count: 30) })
  }

  @Test(arguments: Place.allCases) func `flatMap delivers all values if upstream has threads too`(_ place: Place) async
  {
    let values = await collected(place) { Numbers(30).flatMap(maxPublishers: .max(4)) { _ in Numbers(100) } }
    #expect(values.sorted() == (0..<100).flatMap { Array(repeating: $0, count: 30) })
  }

  @Test(arguments: Place.allCases) func `nested merge, zip and flatMap deliver all values`(_ place: Place) async {
    let values = await collected(place) {
      Numbers(20).flatMap { _ in Numbers(50).merge(with: Numbers(50)).zip(Numbers(200)) { first, _ in first } }
    }
    #expect(values.sorted() == (0..<50).flatMap { Array(repeating: $0, count: 40) })
  }

  @Test(arguments: Place.allCases) func `zip pairs values in order`(_ place: Place) async {
    let pairs = await collected(place) { Numbers(2_000).zip(Numbers(2_000)) { $0 * 10_000 + $1 } }
    #expect(pairs == (0..<2_000).map { $0 * 10_000 + $0 })
    let triples = await collected(place) { Numbers(500).zip(Numbers(500), Numbers(500)) { $0 == $1 && $1 == $2 } }
    #expect(triples == Array(repeating: true, count: 500))
  }

  @Test(arguments: Place.allCases) func `combineLatest delivers combinations in order`(_ place: Place) async {
    let pairs = await collected(place) { Numbers(1_000).combineLatest(Numbers(1_000)) { $0 * 10_000 + $1 } }
    #expect(pairs.last == 999 * 10_000 + 999)
    #expect(pairs == pairs.sorted { ($0 / 10_000, $0 % 10_000) < ($1 / 10_000, $1 % 10_000) })
  }

  @Test(arguments: Place.allCases) func `append and prepend deliver one after another`(_ place: Place) async {
    let values = await collected(place) { Numbers(300).append(Numbers(300)).prepend(Numbers(300)) }
    #expect(values == (0..<3).flatMap { _ in 0..<300 })
  }

  @Test(arguments: Place.allCases) func `switchToLatest delivers all of the last publisher`(_ place: Place) async {
    let values = await collected(place) { Numbers(50).map { _ in Numbers(100) }.switchToLatest() }
    #expect(Array(values.suffix(100)) == Array(0..<100))
  }

  @Test(arguments: Place.allCases) func `retry(when:) delivers all values before a failure`(_ place: Place) async {
    struct Failed: Error {}
    let attempts = Atomic(0)
    let values = await collected(place) {
      Deferred { () -> AnyPublisher<Int, Failed> in
        let attempt = attempts.add(1, ordering: .relaxed).newValue
        if attempt == 4 { return [1, 2].publisher.setFailureType(to: Failed.self).eraseToAnyPublisher() }
        // The first attempt fails on its own thread, the others while they are subscribed to.
        return attempt == 1
          ? Numbers(3).setFailureType(to: Failed.self).append(Fail(error: Failed())).eraseToAnyPublisher()
          : [10 * attempt].publisher.setFailureType(to: Failed.self).append(Fail(error: Failed()))
            .eraseToAnyPublisher()
      }
      .retry(when: { _ in (0..<9).publisher })
    }
    #expect(values == [0, 1, 2, 20, 30, 1, 2])
  }

  @Test(arguments: Place.allCases) func `race delivers all values of the winner`(_ place: Place) async {
    let values = await collected(place) { Numbers(100).race(with: Numbers(100)) }
    #expect(values == Array(0..<100))
  }

  @Test(arguments: Place.allCases) func `prefix cancels the merged publishers`(_ place: Place) async {
    let values = await collected(place) { Numbers(5_000).merge(with: Numbers(5_000)).prefix(10) }
    #expect(values.count == 10)
  }

  @Test(arguments: Place.allCases) func `prefix, drop, withLatestFrom and sample work`(_ place: Place) async {
    let before = await collected(place) { Numbers(5_000).prefix(untilOutputFrom: Numbers(1)) }
    #expect(before == Array(0..<before.count))
    let after = await collected(place) { Numbers(5_000).drop(untilOutputFrom: Numbers(1)) }
    #expect(after == Array((5_000 - after.count)..<5_000))
    let latest = await collected(place) { Numbers(5_000).withLatestFrom(Numbers(5_000)) { $0 - $0 + $1 } }
    #expect(latest == latest.sorted())
    let sampled = await collected(place) { Numbers(5_000).sample(on: Numbers(100)) }
    #expect(sampled == sampled.sorted())
  }

  @Test(arguments: Place.allCases) func `events of two threads in turn keep their order`(_ place: Place) async {
    let streams: [@Sendable (Relay) -> any Publisher<Int, Never>] = [
      { $0.merge(with: Empty(completeImmediately: false)).prefix(4) },
      { $0.flatMap { Just($0) } },
      { $0.flatMap(maxPublishers: .max(2)) { Just($0) } },
      { $0.concatMap { Just($0) } },
      { $0.zip((0..<4).publisher) { value, _ in value } },
      { $0.buffer(size: 9, prefetch: .keepFull, whenFull: .dropNewest).merge(with: Empty()) },
      { $0.setFailureType(to: CancellationError.self).catch { _ in Empty() } },
      { $0.append(Empty()) },
      { $0.drop(untilOutputFrom: Just(1)) },
    ]
    for (index, stream) in streams.enumerated() {
      let values = await withUnsafeContinuation { continuation in
        Thread.detachNewThread { continuation.resume(returning: Self.valuesInTurn(place, stream)) }
      }
      #expect(values == [0, 1, 2, 3], "stream \(index)")
    }
  }

  /// Subscribes to a stream above which another thread delivers 1 while this thread is in the stream, and this thread
  /// delivers the other values.
  private static func valuesInTurn(_ place: Place, _ make: (Relay) -> any Publisher<Int, Never>) -> [Int] {
    let loop = place == .loop ? EventLoop() : nil
    let relay = Relay()
    nonisolated(unsafe) var values: [Int] = []
    func receive(_ value: Int) {
      values.append(value)
      guard value == 0 else { return }
      relay.deliverElsewhere(1)
      relay.deliver(2)
      relay.deliver(3)
      relay.finish()
    }
    func start() -> AnyCancellable { make(relay).sink { receive($0) } }
    var subscription: AnyCancellable?
    loop?.execute { relay.deliver(0) }
    subscription = start()
    if let loop { loop.run() } else { relay.deliver(0) }
    loop?.close()
    subscription?.cancel()
    return values
  }

  @Test func `a thread that delivers one value returns, and the values that others keep delivering arrive`() async {
    let received = Mutex(0)
    let early: Int = await withUnsafeContinuation { continuation in
      Thread.detachNewThread {
        let relay = Relay()
        let subscription = relay.merge(with: Empty(completeImmediately: false)).sink { _ in
          let count = received.withLock {
            $0 += 1
            return $0
          }
          if count < 2_000 { relay.deliverElsewhere(count) }
        }
        relay.deliver(0)
        continuation.resume(returning: received.withLock { $0 })
        withExtendedLifetime(subscription) {
          while received.withLock({ $0 }) < 2_000 { usleep(1_000) }
        }
      }
    }
    #expect(early < 1_000)
    while received.withLock({ $0 }) < 2_000 { try? await Task.sleep(for: .milliseconds(1)) }
  }

  private struct Refused: Error {}

  @Test func `values that arrive after a thrown error, before upstream notices the cancellation, are ignored`() {
    let relay = Relay()
    var values: [Int] = []
    let subscription = relay.tryMap { number in
      if number == 2 { throw Refused() }
      return number
    }
    .catch { _ in Empty<Int, Never>(completeImmediately: false) }.sink { values.append($0) }
    for number in 1...4 { relay.deliver(number) }
    withExtendedLifetime(subscription) {}
    #expect(values == [1])
  }

  @Test func `a timeout on a queue is released with its stream`() async {
    final class Token: Sendable {}
    let relay = Relay()
    weak var token: Token?
    do {
      let new = Token()
      token = new
      let stream = relay.timeout(.seconds(3_600), scheduler: DispatchQueue(label: "timeout")).map { [new] number in
        withExtendedLifetime(new) { number }
      }
      let subscription = stream.sink { _ in }
      relay.deliverElsewhere(1)
      subscription.cancel()
    }
    relay.forget()
    for _ in 0..<1_000 where token != nil { try? await Task.sleep(for: .milliseconds(5)) }
    #expect(token == nil)
  }

  /// Delivers what it is told to, on the calling thread or another.
  private final class Relay: Publisher, Subscription, @unchecked Sendable {
    typealias Output = Int
    typealias Failure = Never

    private var subscriber: AnySubscriber<Int, Never>?

    func receive<S: Subscriber>(subscriber: S) where S.Input == Int, S.Failure == Never {
      self.subscriber = AnySubscriber(subscriber)
      subscriber.receive(subscription: self)
    }

    func request(_ demand: Subscribers.Demand) {}
    func cancel() {}
    func deliver(_ value: Int) { _ = subscriber?.receive(value) }
    func finish() { subscriber?.receive(completion: .finished) }
    func forget() { subscriber = nil }

    func deliverElsewhere(_ value: Int) {
      let delivered = DispatchSemaphore(value: 0)
      Thread.detachNewThread {
        self.deliver(value)
        delivered.signal()
      }
      delivered.wait()
    }
  }

  @Test(arguments: Place.allCases) func `groups are collected by time on a queue`(_ place: Place) async {
    let queue = DispatchQueue(label: "queue")
    for _ in 0..<5 {
      let arrays = await collected(place) {
        Numbers(60).groupBy { $0 % 3 }.flatMap { $0.collect(.byTimeOrCount(queue, .microseconds(100), 3)) }
      }
      #expect(arrays.flatMap(\.self).sorted() == Array(0..<60))
    }
  }

  @Test func `the timers of groups on a queue run where their operators live`() async {
    let (queue, timers) = (DispatchQueue(label: "queue"), DispatchQueue(label: "timers"))
    for _ in 0..<40 {
      let values = await collected(.nowhere) {
        Numbers(60).groupBy { $0 % 3 }.receive(on: queue)
          .flatMap { $0.collect(.byTime(timers, .microseconds(10))).timeout(.seconds(60), scheduler: timers) }
      }
      #expect(values.flatMap(\.self).sorted() == Array(0..<60))
    }
  }

  /// Returns the values of a stream when it has finished; subscribes on a thread with a loop, or without one.
  private func collected<P: Publisher & SendableMetatype>(_ place: Place, _ make: @escaping @Sendable () -> P) async
    -> [P.Output]
  where P.Failure == Never, P.Output: Sendable {
    await withUnsafeContinuation { continuation in
      Thread.detachNewThread {
        let loop = place == .loop ? EventLoop() : nil
        let running = loop.map { $0.once(after: .seconds(3_600)) {} }
        let finished = DispatchSemaphore(value: 0)
        nonisolated(unsafe) var values: [P.Output] = []
        let subscription = make().sink { _ in
          running?.cancel()
          finished.signal()
        } receiveValue: {
          #expect(loop?.isCurrent ?? true)
          values.append($0)
        }
        loop?.run()
        withExtendedLifetime(subscription) { finished.wait() }
        loop?.close()
        continuation.resume(returning: values)
      }
    }
  }
}
