import Dispatch
import FeedStream
import Foundation

// A timer of the main run loop that crosses to queues, below dispatchMain(), which changes the main queue's thread.
// Expects: 10 ticks on the main queue, 10 on another

var (here, there) = (0, 0)
let ticks = Timer.publish(every: 0.001, on: .main, in: .common).autoconnect()
let first = ticks.receive(on: DispatchQueue.main).prefix(10).count()
let second = ticks.receive(on: DispatchQueue.global()).prefix(10).count().receive(on: DispatchQueue.main)
let subscription = first.zip(second).receive(on: DispatchQueue.main).sink { first, second in
  print("\(first) ticks on the main queue, \(second) on another")
  exit(0)
}
dispatchMain()
