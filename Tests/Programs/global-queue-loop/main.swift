// The chain of the program `global-queue`, where a loop runs instead of the main queue.
// Expects: 2000
import Dispatch
import FeedStream

let loop = EventLoop()
let subscription = (0..<2_000).publisher
  .flatMap { Just($0).receive(on: DispatchQueue.global()) }
  .collect()
  .receive(on: DispatchQueue.main)
  .sink { print($0.count) }
loop.run()
