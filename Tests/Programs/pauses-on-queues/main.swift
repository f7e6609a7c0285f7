// Pauses that a queue measures, without a loop.
// Expects: 300 after a pause, 90 repeated, 20 retried
import Dispatch
import FeedStream
import Foundation

struct Refusal: Error {}
let queue = DispatchQueue(label: "pauses", attributes: .concurrent)
let done = DispatchGroup()
nonisolated(unsafe) var counts = [0, 0, 0]
let lock = NSLock()
@Sendable func count(_ index: Int) { lock.withLock { counts[index] += 1 } }
var bag: Set<AnyCancellable> = []
for _ in 0..<100 {
  done.enter()
  (0..<3).publisher.delaySubscription(for: .milliseconds(1), scheduler: queue)
    .sink { _ in
      done.leave()
    } receiveValue: { _ in
      count(0)
    }
    .store(in: &bag)
}
for _ in 0..<30 {
  done.enter()
  Just(1).receive(on: DispatchQueue.global()).repeat(3, after: .milliseconds(1), scheduler: queue)
    .sink { _ in
      done.leave()
    } receiveValue: { _ in
      count(1)
    }
    .store(in: &bag)
}
let policy = RetryPolicy(limit: 2, firstPause: .milliseconds(1), factor: 1, cap: .milliseconds(1), jitter: 0)
for _ in 0..<20 {
  done.enter()
  Fail<Int, Refusal>(error: Refusal()).retry(policy, scheduler: queue)
    .sink {
      if case .failure = $0 { count(2) }
      done.leave()
    } receiveValue: { _ in
    }
    .store(in: &bag)
}
// Some streams are cancelled while their pause ends.
for _ in 0..<500 {
  Just(1).delaySubscription(for: .microseconds(20), scheduler: queue).sink { _ in }.cancel()
}
done.wait()
print("\(counts[0]) after a pause, \(counts[1]) repeated, \(counts[2]) retried")
