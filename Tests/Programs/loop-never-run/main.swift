import Dispatch
import FeedStream
import Foundation

// A program that makes a loop and then runs the main run loop instead.
// Expects: 0 values
// Warns: this stream waits for an EventLoop that has never run

let loop = EventLoop()
var count = 0
let subscription = (0..<10).publisher
  .flatMap { Just($0).receive(on: DispatchQueue.global()) }
  .sink { _ in count += 1 }
RunLoop.main.run(until: Date() + 2.5)
print("\(count) values")
subscription.cancel()
