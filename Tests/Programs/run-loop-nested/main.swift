import Dispatch
import FeedStream
import Foundation

// Below RunLoop.main.run(), code on the main queue runs the run loop until a timer has ticked, and a tick's handler
// runs it until the main actor has run a task.
// Expects: 3 ticks and a task

var text = ""
var isDone = false
DispatchQueue.main.async {
  var ticks = 0
  let timer = Timer.publish(every: 0.01, on: .main, in: .common).autoconnect().sink { _ in ticks += 1 }
  while ticks < 3 { RunLoop.main.run(until: Date() + 0.01) }
  timer.cancel()
  text = "3 ticks"
}
// The first tick, before which the run loop doesn't run, comes from the main queue.
let timer = Timer.publish(every: 0.01, on: .main, in: .common).autoconnect().dropFirst().sink { _ in
  Task { @MainActor in isDone = true }
  while !isDone { RunLoop.main.run(until: Date() + 0.01) }
  print("\(text) and a task")
  exit(0)
}
RunLoop.main.run()
