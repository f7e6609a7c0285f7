import Dispatch
import FeedStream
import Foundation

// Buffers, debounce and throttle without a loop, below a publisher that delivers on its own thread: values arrive while
// the subscription is still being delivered, while values are requested elsewhere, and while the stream is cancelled.
// Expects: 100 buffered, 50 in turn, 50 of Create, 200 were cancelled

final class Values: @unchecked Sendable {
  private let lock = NSLock()
  private var values: [Int] = []
  private var hasEnded = false
  func add(_ value: Int) { lock.withLock { values.append(value) } }
  func end() { lock.withLock { hasEnded = true } }

  /// Waits for the completion; true if it follows the numbers from 0.
  func areAll(_ count: Int) -> Bool {
    for _ in 0..<10_000 where !lock.withLock({ hasEnded }) { usleep(1_000) }
    return lock.withLock { hasEnded && values == Array(0..<count) }
  }
}

/// Calls back on a background queue, one value after another.
struct Readings: Publisher {
  final class Run<S: Subscriber>: Subscription, @unchecked Sendable where S.Input == Int, S.Failure == Never {
    private let lock = NSLock()
    private let count: Int
    private var subscriber: S?

    init(_ subscriber: S, _ count: Int) {
      self.subscriber = subscriber
      self.count = count
    }

    private var current: S? { lock.withLock { subscriber } }

    func request(_ demand: Subscribers.Demand) {
      guard demand == .unlimited else { return }
      nonisolated(unsafe) let deliver = { [self] in
        for number in 0..<count {
          guard let subscriber = current else { return }
          _ = subscriber.receive(number)
        }
        current?.receive(completion: .finished)
      }
      DispatchQueue.global().async { deliver() }
    }

    func cancel() { lock.withLock { subscriber = nil } }
  }

  typealias Output = Int
  typealias Failure = Never

  let count: Int
  func receive<S: Subscriber>(subscriber: S) where S.Input == Int, S.Failure == Never {
    subscriber.receive(subscription: Run(subscriber, count))
  }
}

extension Publisher where Failure == Never {
  func held() -> Publishers.Buffer<Self> { buffer(size: 1_000, prefetch: .byRequest, whenFull: .dropOldest) }
}

func later(_ number: Int) -> some Publisher<Int, Never> {
  Just(number).delay(for: .microseconds(1), scheduler: DispatchQueue.global())
}

var buffered = 0
for _ in 0..<100 {
  let values = Values()
  let subscription = Readings(count: 300).held().sink { _ in
    values.end()
  } receiveValue: {
    values.add($0)
  }
  if values.areAll(300) { buffered += 1 }
  subscription.cancel()
}

var inTurn = 0
for _ in 0..<50 {
  let values = Values()
  let subscription = Readings(count: 100).held().flatMap(maxPublishers: .max(1)) { later($0) }
    .sink { _ in
      values.end()
    } receiveValue: {
      values.add($0)
    }
  if values.areAll(100) { inTurn += 1 }
  subscription.cancel()
}

var created = 0
for _ in 0..<50 {
  let values = Values()
  let subscription = Create<Int, Never>(size: 100) { emitter in
    for number in 0..<100 { emitter.send(number) }
    emitter.send(completion: .finished)
  }.flatMap(maxPublishers: .max(1)) { later($0) }.sink { _ in
    values.end()
  } receiveValue: {
    values.add($0)
  }
  if values.areAll(100) { created += 1 }
  subscription.cancel()
}

var cancelled = 0
for _ in 0..<50 {
  let global = DispatchQueue.global()
  let interval = DispatchQueue.SchedulerTimeType.Stride.microseconds(200)
  let subscriptions = [
    Readings(count: 3_000).held().sink { _ in },
    Readings(count: 3_000).throttle(for: interval, scheduler: DispatchQueue.main, latest: true).sink { _ in },
    Readings(count: 3_000).throttle(for: interval, scheduler: global, latest: true).sink { _ in },
    Readings(count: 3_000).debounce(for: interval, scheduler: DispatchQueue.main).sink { _ in },
  ]
  RunLoop.main.run(until: Date() + 0.001)
  for subscription in subscriptions {
    subscription.cancel()
    cancelled += 1
  }
}

print("\(buffered) buffered, \(inTurn) in turn, \(created) of Create, \(cancelled) were cancelled")
