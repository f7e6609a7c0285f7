import Dispatch
import FeedStream

// Groups that are delivered on queues, without a loop: the sequence adds values to a group on the main thread while a
// queue requests them.
// Expects: 200 of 200 streams deliver 300 values

var complete = 0
for _ in 0..<200 {
  let done = DispatchSemaphore(value: 0)
  nonisolated(unsafe) var count = 0
  let subscription = (0..<300).publisher
    .groupBy { $0 % 3 }
    .flatMap { $0.receive(on: DispatchQueue.global()) }
    .sink(receiveCompletion: { _ in done.signal() }, receiveValue: { _ in count += 1 })
  if done.wait(timeout: .now() + 5) == .success, count == 300 { complete += 1 }
  subscription.cancel()
}
print("\(complete) of 200 streams deliver 300 values")
