// A subscription is released in the statement that creates it.
// Warns: released as soon as it was made
import FeedStream

let loop = EventLoop()
_ = Interval(every: .milliseconds(1), scheduler: loop).prefix(3).sink { print($0) }
loop.run()
print("done")
