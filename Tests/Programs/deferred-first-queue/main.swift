import Dispatch
import FeedStream

// A shared stream that first uses a queue when it is subscribed to: nothing before has told the library that the
// process uses queues.
// Expects: the sum is 499500

let loop = EventLoop()
nonisolated(unsafe) var sum = 0
let subscription = Deferred { (0..<1_000).publisher.receive(on: DispatchQueue.global()) }
  .share()
  .sink(receiveCompletion: { _ in print("the sum is \(sum)") }, receiveValue: { sum += $0 })
loop.run()
