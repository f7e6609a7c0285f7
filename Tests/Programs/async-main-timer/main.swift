// A timer of the main run loop in an asynchronous main, where no code runs that loop.
// Expects: 3 ticks
import FeedStream
import Foundation

var ticks = 0
for await _ in Timer.publish(every: 0.01, on: .main, in: .common).autoconnect().prefix(3).values { ticks += 1 }
print("\(ticks) ticks")
