import Dispatch
import FeedStream
import Foundation

// A subscriber of one's own that requests the next number on another queue than the one that delivers.
// Traps: values were requested on a different thread than the one that subscribed

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
(0..<3_000).publisher.subscribe(subscriber)
print(subscriber.wait())
