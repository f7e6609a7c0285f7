// A plain task reads values while the loop runs on the main thread: on the main actor in Swift 6 mode, but not in Swift 5
// mode. The loop waits for the task to begin.
// Expects: 1 2 3
import FeedStream
import Foundation
import Synchronization

let loop = EventLoop()
let numbers = [1, 2, 3].publisher.delay(for: .milliseconds(5), scheduler: loop).values
let isDone = Atomic(false)
Task {
  var all: [String] = []
  for await number in numbers { all.append("\(number)") }
  print(all.joined(separator: " "))
  isDone.store(true, ordering: .releasing)
}
loop.run()
// The loop doesn't wait for what the task does after the last value.
for _ in 0..<500 where !isDone.load(ordering: .acquiring) { RunLoop.main.run(until: Date() + 0.01) }
