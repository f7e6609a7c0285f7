import Dispatch
import FeedStream
import Foundation

// What Combine lets any thread cancel: one cancellable twice at the same time, a timer's connection, and the last
// subscribers of a shared publisher.
// Expects: 20000 closures ran once, 20 timers stopped, 200 sources were cancelled

final class Count: @unchecked Sendable {
  private let lock = NSLock()
  private var number = 0
  func add() { lock.withLock { number += 1 } }
  var value: Int { lock.withLock { number } }
}
let group = DispatchGroup()

let closures = Count()
for _ in 0..<20_000 {
  nonisolated(unsafe) let cancellable = AnyCancellable { closures.add() }
  for _ in 0..<2 { DispatchQueue.global().async(group: group) { cancellable.cancel() } }
  group.wait()
}

var stopped = 0
for _ in 0..<20 {
  let ticks = Count()
  let timer = Timer.publish(every: 0.001, on: .main, in: .common)
  let subscription = timer.sink { _ in ticks.add() }
  nonisolated(unsafe) let connection = timer.connect()
  for _ in 0..<1_000 where ticks.value == 0 { RunLoop.main.run(until: Date() + 0.004) }
  DispatchQueue.global().async(group: group) { connection.cancel() }
  group.wait()
  RunLoop.main.run(until: Date() + 0.03)
  let count = ticks.value
  RunLoop.main.run(until: Date() + 0.006)
  if count > 0, ticks.value == count { stopped += 1 }
  subscription.cancel()
}

/// Delivers one value, and notes the cancellation.
struct Endless: Publisher {
  final class Run: Subscription {
    let cancelled: () -> Void
    init(_ cancelled: @escaping () -> Void) { self.cancelled = cancelled }
    func request(_ demand: Subscribers.Demand) {}
    func cancel() { cancelled() }
  }

  typealias Output = Int
  typealias Failure = Never

  let cancelled: () -> Void
  func receive<S: Subscriber>(subscriber: S) where S.Input == Int, S.Failure == Never {
    subscriber.receive(subscription: Run(cancelled))
    _ = subscriber.receive(1)
  }
}

let cancelled = Count()
for _ in 0..<200 {
  let shared = Endless { cancelled.add() }.share()
  let subscriptions = (0..<4).map { _ in shared.receive(on: DispatchQueue.global()).sink { (_: Int) in } }
  for subscription in subscriptions {
    nonisolated(unsafe) let subscription = subscription
    DispatchQueue.global().async(group: group) { subscription.cancel() }
  }
  group.wait()
}
for _ in 0..<100 where cancelled.value < 200 { RunLoop.main.run(until: Date() + 0.01) }
print("\(closures.value) closures ran once, \(stopped) timers stopped, \(cancelled.value) sources were cancelled")
