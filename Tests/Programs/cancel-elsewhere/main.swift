// Publishers that deliver on their own threads, while another thread cancels.
// Expects: 1350 cancelled, nothing after that
import FeedStream
import Foundation

/// Delivers numbers on its own thread until it is cancelled.
final class Numbers: Publisher, @unchecked Sendable {
  typealias Output = Int
  typealias Failure = Never

  final class Run: Subscription, @unchecked Sendable {
    let lock = NSLock()
    var subscriber: AnySubscriber<Int, Never>?
    init(_ subscriber: AnySubscriber<Int, Never>) { self.subscriber = subscriber }
    var current: AnySubscriber<Int, Never>? { lock.withLock { subscriber } }
    func request(_ demand: Subscribers.Demand) {}
    func cancel() { lock.withLock { subscriber = nil } }
  }

  func receive<S: Subscriber>(subscriber: S) where S.Input == Int, S.Failure == Never {
    let run = Run(AnySubscriber(subscriber))
    subscriber.receive(subscription: run)
    Thread.detachNewThread {
      for number in 0..<300 {
        guard let subscriber = run.current else { return }
        _ = subscriber.receive(number)
      }
      run.current?.receive(completion: .finished)
    }
  }
}

/// A box for the sum of what arrived.
final class Sum { var value = 0 }

var cancelled = 0
for round in 0..<150 {
  let numbers = Numbers()
  let sum = Sum()
  var bag: [AnyCancellable] = [
    numbers.sink { sum.value &+= $0 },
    numbers.scan([]) { $0.suffix(3) + [$1] }.sink { sum.value &+= $0.count },
    numbers.collect(7).sink { sum.value &+= $0.count },
    numbers.removeDuplicates().map { [$0] }.removeDuplicates().sink { sum.value &+= $0.count },
    numbers.collect().sink { sum.value &+= $0.count },
    numbers.buffer(size: 10, prefetch: .keepFull, whenFull: .dropOldest).sink { sum.value &+= $0 },
    numbers.handleEvents(receiveOutput: { _ in }, receiveCancel: {}).last().sink { sum.value &+= $0 },
    numbers.retry(2).sink { sum.value &+= $0 },
    numbers.tryMap { $0 }.replaceError(with: 0).prefix(250).sink { sum.value &+= $0 },
  ]
  for _ in 0..<(round * 7 % 400) { usleep(1) }
  for subscription in bag {
    subscription.cancel()
    cancelled += 1
  }
  bag = []
}
print("\(cancelled) cancelled, nothing after that")
