// A task waits for values that live on a loop that never runs.
// Expects: too late
// Warns: this stream waits for an EventLoop that has never run
import FeedStream
import Foundation

let loop = EventLoop()
Thread.detachNewThread {
  sleep(3)
  print("too late")
  exit(0)
}
for await number in Interval(every: .milliseconds(2), scheduler: loop).prefix(3).values { print(number) }
print("done")
