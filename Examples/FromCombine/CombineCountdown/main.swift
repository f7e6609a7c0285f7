// A countdown: a timer that starts with its first subscriber and stops with its last.
//
// Written for Combine, on a run loop. Only the import differs: `import FeedStream` replaces `import Combine`.
import FeedStream
import Foundation

var isDone = false
let countdown = Timer.publish(every: 0.1, on: .main, in: .default)
  .autoconnect()
  .scan(4) { left, _ in left - 1 }
  .prefix(while: { $0 > 0 })
  .sink { _ in
    print("Lift-off")
    isDone = true
  } receiveValue: {
    print($0)
  }

while !isDone { RunLoop.main.run(until: Date(timeIntervalSinceNow: 0.05)) }
