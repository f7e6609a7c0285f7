import Dispatch
import FeedStream
import Foundation

// A buffer below a publisher that delivers on its own thread, above receive(on:), without a loop: values arrive on one
// thread while the main queue requests values.
// Expects: 1000 of 1000 streams are complete

/// Delivers the requested numbers on a thread of its own, as a socket does.
struct Socket: Publisher {
  final class Feed<S: Subscriber>: Subscription, @unchecked Sendable where S.Input == Int, S.Failure == Never {
    private let state = NSCondition()
    private var demand = Subscribers.Demand.none
    private var isOver = false
    private let subscriber: S

    init(_ subscriber: S) { self.subscriber = subscriber }

    func request(_ demand: Subscribers.Demand) {
      state.withLock {
        self.demand += demand
        state.signal()
      }
    }

    func cancel() {
      state.withLock {
        isOver = true
        state.signal()
      }
    }

    func run() {
      for number in 0..<20 {
        let isOver = state.withLock {
          while demand == .none, !self.isOver { state.wait() }
          if !self.isOver { demand -= 1 }
          return self.isOver
        }
        if isOver { return }
        let more = subscriber.receive(number)
        state.withLock { demand += more }
      }
      if !state.withLock({ isOver }) { subscriber.receive(completion: .finished) }
    }
  }

  typealias Output = Int
  typealias Failure = Never

  func receive<S: Subscriber>(subscriber: S) where S.Input == Int, S.Failure == Never {
    let feed = Feed(subscriber)
    subscriber.receive(subscription: feed)
    Thread { feed.run() }.start()
  }
}

/// Requests one value at a time.
final class Slow: Subscriber {
  var values: [Int] = []
  var isComplete = false

  func receive(subscription: any Subscription) { subscription.request(.max(1)) }
  func receive(_ value: Int) -> Subscribers.Demand {
    values.append(value)
    return .max(1)
  }
  func receive(completion: Subscribers.Completion<Never>) { isComplete = true }
}

var complete = 0
for _ in 0..<1_000 {
  let slow = Slow()
  Socket().buffer(size: 100, prefetch: .byRequest, whenFull: .dropOldest).receive(on: DispatchQueue.main)
    .subscribe(slow)
  let end = Date() + 3
  while !slow.isComplete, Date() < end { RunLoop.main.run(until: Date() + 0.000_2) }
  if slow.isComplete, slow.values == Array(0..<20) { complete += 1 }
}
print("\(complete) of 1000 streams are complete")
