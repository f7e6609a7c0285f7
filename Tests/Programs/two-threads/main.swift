// Two threads send to a subject that was created before its loop runs. Without `unsafe`, it doesn't compile in Swift 6 mode.
// Traps: touched on a different thread
import FeedStream
import Foundation

let loop = EventLoop()
nonisolated(unsafe) let subject = PassthroughSubject<Int, Never>()
nonisolated(unsafe) var count = 0
let subscription = subject.sink { _ in count += 1 }
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
print(count)
