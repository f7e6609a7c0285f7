// Publishers that deliver on their own threads, joined without an event loop.
// Expects: 4000 merged, 1000 pairs, 4000 of many
import FeedStream
import Foundation

/// Delivers numbers on its own thread, regardless of demand.
struct Numbers: Publisher {
  typealias Output = Int
  typealias Failure = Never
  let count: Int

  func receive<S: Subscriber>(subscriber: S) where S.Input == Int, S.Failure == Never {
    nonisolated(unsafe) let subscriber = AnySubscriber<Int, Never>(subscriber)
    subscriber.receive(subscription: Subscriptions.empty)
    let count = self.count
    Thread.detachNewThread {
      for number in 0..<count { _ = subscriber.receive(number) }
      subscriber.receive(completion: .finished)
    }
  }
}

let done = DispatchSemaphore(value: 0)
nonisolated(unsafe) var (merged, pairs, many) = (0, 0, 0)
var bag: Set<AnyCancellable> = []
Numbers(count: 2_000).merge(with: Numbers(count: 2_000))
  .sink { _ in
    done.signal()
  } receiveValue: { _ in
    merged += 1
  }
  .store(in: &bag)
Numbers(count: 1_000).zip(Numbers(count: 1_000))
  .sink { _ in
    done.signal()
  } receiveValue: {
    if $0 == $1 { pairs += 1 }
  }
  .store(in: &bag)
Numbers(count: 40).flatMap { _ in Numbers(count: 100) }
  .sink { _ in
    done.signal()
  } receiveValue: { _ in
    many += 1
  }
  .store(in: &bag)
for _ in 0..<3 { done.wait() }
print("\(merged) merged, \(pairs) pairs, \(many) of many")
