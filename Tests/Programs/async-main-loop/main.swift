// A loop in an asynchronous main that never runs: the values of its timer can't arrive.
// Expects: done
// Warns: this stream waits for an EventLoop that has never run
import FeedStream

let loop = EventLoop()
let ticks = Interval(every: .milliseconds(2), scheduler: loop).prefix(3).sink { print($0) }
try? await Task.sleep(for: .milliseconds(50))
print("done")
