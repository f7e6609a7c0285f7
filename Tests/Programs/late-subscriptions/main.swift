import Dispatch
import FeedStream
import Foundation

// A subscription that arrives on another thread after the stream was cancelled, while a third thread delivers values: its
// publisher must learn that nobody needs it.
// Expects: 500 of 500 subscriptions are cancelled

/// Counts its cancellation, once.
final class Token: Subscription, @unchecked Sendable {
  private static let lock = NSLock()
  nonisolated(unsafe) private static var cancelled = 0
  private var isCancelled = false

  static var count: Int { lock.withLock { cancelled } }

  var isOver: Bool { Self.lock.withLock { isCancelled } }

  func request(_ demand: Subscribers.Demand) {}
  func cancel() {
    Self.lock.withLock {
      if !isCancelled { Self.cancelled += 1 }
      isCancelled = true
    }
  }
}

/// Delivers its subscription late, on a queue.
struct Late: Publisher {
  typealias Output = Int
  typealias Failure = Never

  func receive<S: Subscriber>(subscriber: S) where S.Input == Int, S.Failure == Never {
    nonisolated(unsafe) let subscriber = subscriber
    DispatchQueue.global().asyncAfter(deadline: .now() + .microseconds(100)) {
      subscriber.receive(subscription: Token())
    }
  }
}

/// Delivers without end, on a thread of its own.
struct Busy: Publisher {
  typealias Output = Int
  typealias Failure = Never

  func receive<S: Subscriber>(subscriber: S) where S.Input == Int, S.Failure == Never {
    nonisolated(unsafe) let subscriber = subscriber
    let token = Token()
    subscriber.receive(subscription: token)
    Thread.detachNewThread { while !token.isOver { _ = subscriber.receive(1) } }
  }
}

for round in 0..<250 {
  let subscription = Late().merge(with: Busy()).sink { _ in }
  if round % 3 == 0 { usleep(20) }
  subscription.cancel()
}
let end = Date() + 5
while Token.count < 500, Date() < end { usleep(1_000) }
print("\(Token.count) of 500 subscriptions are cancelled")
