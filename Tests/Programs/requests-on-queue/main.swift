import Dispatch
import FeedStream
import Foundation

// What the message of requests-elsewhere says to write: receive(on:) above the subscriber, which requests on any queue.
// Expects: 3000 3000

final class OneAtATime: Subscriber, @unchecked Sendable {
  private let queue = DispatchQueue(label: "requests")
  private let done = DispatchSemaphore(value: 0)
  private var count = 0

  func receive(subscription: any Subscription) {
    nonisolated(unsafe) let subscription = subscription
    self.subscription = subscription
    queue.async { subscription.request(.max(1)) }
  }

  private var subscription: (any Subscription)?

  func receive(_ number: Int) -> Subscribers.Demand {
    count += 1
    nonisolated(unsafe) let subscription = subscription
    queue.async { subscription?.request(.max(1)) }
    return .none
  }

  func receive(completion: Subscribers.Completion<Never>) { done.signal() }

  func wait() -> Int {
    _ = done.wait(timeout: .now() + 10)
    return count
  }
}

let subscriber = OneAtATime()
(0..<3_000).publisher.receive(on: DispatchQueue(label: "numbers")).subscribe(subscriber)
let first = subscriber.wait()

let other = OneAtATime()
(0..<3_000).publisher.subscribe(on: DispatchQueue.global()).subscribe(other)
print(first, other.wait())
