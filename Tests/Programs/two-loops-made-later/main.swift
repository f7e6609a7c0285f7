// A thread that makes two loops while a value is on its way to a queue: both wait for it, and both return.
// Expects: 1, the first returned, the second returned
import Dispatch
import FeedStream

nonisolated(unsafe) var seen: [String] = []
let delayed = Just(1).delay(for: .milliseconds(20), scheduler: DispatchQueue.global())
let subscription = delayed.receive(on: DispatchQueue.main).sink { seen.append("\($0)") }
let first = EventLoop()
let second = EventLoop()
first.run()
seen.append("the first returned")
second.run()
seen.append("the second returned")
print(seen.joined(separator: ", "))
