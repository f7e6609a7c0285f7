// The loop has nothing left to do while values are in transit to a queue, to a run loop and to a task.
// Expects: main 1 queue 1 run loop 1 task 1
import Dispatch
import FeedStream
import Foundation

let loop = EventLoop()
let lock = NSLock()
nonisolated(unsafe) var seen: Set<String> = []
@Sendable func see(_ text: String) { lock.withLock { _ = seen.insert(text) } }
let subscriptions = [
  Just(1).receive(on: DispatchQueue.main).sink { see("main \($0)") },
  Just(1).delay(for: .milliseconds(5), scheduler: DispatchQueue.global()).sink { see("queue \($0)") },
  Just(1).delay(for: .milliseconds(5), scheduler: RunLoop.main).sink { see("run loop \($0)") },
  Future { () async -> Int in
    try? await Task.sleep(nanoseconds: 5_000_000)
    return 1
  }.sink { see("task \($0)") },
]
loop.run()
print(lock.withLock { ["main 1", "queue 1", "run loop 1", "task 1"].filter(seen.contains) }.joined(separator: " "))
