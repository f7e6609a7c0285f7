import Dispatch
import FeedStream
import Foundation

// RunLoop.main with options below dispatchMain(), which doesn't run that loop.
// Expects: [1, 2]

let options = RunLoop.SchedulerOptions(mode: .common)
let subscription = [1, 2].publisher.receive(on: RunLoop.main, options: options).collect().sink { values in
  print(values)
  exit(0)
}
dispatchMain()
