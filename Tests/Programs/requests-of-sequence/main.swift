// A subscriber of one's own that is asked for the sequence's next value in the sinks of other streams, on queues.
// Traps: In a subscriber of your own, return the demand from receive(_:)
import Dispatch
import FeedStream
import Foundation

final class Slow: Subscriber, @unchecked Sendable {
  nonisolated(unsafe) private var subscription: (any Subscription)?

  func receive(subscription: any Subscription) { self.subscription = subscription }
  func receive(_ number: Int) -> Subscribers.Demand { .none }
  func receive(completion: Subscribers.Completion<Never>) {}
  func requestNext() { subscription?.request(.max(1)) }
}

let slow = Slow()
(1...100_000).publisher.map { $0 }.subscribe(slow)
let others = (0..<4).map { number in
  (1...5_000).publisher.receive(on: DispatchQueue(label: "\(number)")).sink { _ in slow.requestNext() }
}
RunLoop.main.run(until: Date() + 2)
print("not stopped")
withExtendedLifetime(others) {}
