// Two threads send to a subject that was created before the loop and has not been used yet.
// Traps: touched on a thread that does not run
import FeedStream
import Foundation

nonisolated(unsafe) let subject = PassthroughSubject<Int, Never>()
let loop = EventLoop()
let group = DispatchGroup()
for _ in 0..<2 {
  group.enter()
  Thread.detachNewThread {
    for number in 0..<200_000 { subject.send(number) }
    group.leave()
  }
}
loop.run()
group.wait()
print("lost without a word")
