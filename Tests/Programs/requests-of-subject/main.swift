// A subscriber of one's own that requests the subject's next value on a queue.
// Traps: In a subscriber of your own, return the demand from receive(_:)
import Dispatch
import FeedStream
import Foundation

final class Slow: Subscriber, @unchecked Sendable {
  private let queue = DispatchQueue(label: "requests")
  nonisolated(unsafe) private var subscription: (any Subscription)?

  func receive(subscription: any Subscription) {
    self.subscription = subscription
    requestNext()
  }

  func receive(_ text: String) -> Subscribers.Demand {
    requestNext()
    return .none
  }

  func receive(completion: Subscribers.Completion<Never>) {}

  private func requestNext() { queue.async { self.subscription?.request(.max(1)) } }
}

let subject = CurrentValueSubject<String, Never>("the first text")
subject.subscribe(Slow())
let end = Date() + 5
while Date() < end { subject.send("the next text") }
print("not stopped")
