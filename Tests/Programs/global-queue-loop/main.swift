// The same where a loop runs instead of the main queue.
// Expects: 20000
import Dispatch
import FeedStream

let loop = EventLoop()
let subscription = (0..<20_000).publisher
  .flatMap { Just($0).receive(on: DispatchQueue.global()) }
  .collect()
  .receive(on: DispatchQueue.main)
  .sink { print($0.count) }
loop.run()
