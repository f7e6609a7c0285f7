// Combine's timer of the main run loop, in a program that runs an event loop, or creates one afterwards.
// Expects: 3 ticks, 3 ticks
import FeedStream
import Foundation

func ticks(_ makeLoop: () -> EventLoop) -> Int {
  var ticks = 0
  let early = Timer.publish(every: 0.01, on: .main, in: .common).autoconnect().prefix(3).sink { _ in ticks += 1 }
  let loop = makeLoop()
  loop.run()
  early.cancel()
  return ticks
}

let after = ticks { EventLoop() }
let loop = EventLoop()
let before = ticks { loop }
print("\(after) ticks, \(before) ticks")
