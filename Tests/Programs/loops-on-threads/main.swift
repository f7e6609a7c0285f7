import Dispatch
import FeedStream
import Foundation

// Threads that make loops and release them, while other threads make streams without a loop.
// Expects: 4000 loops, 12000 values

let lock = NSLock()
nonisolated(unsafe) var loops = 0
nonisolated(unsafe) var values = 0
let threads = DispatchGroup()
for number in 0..<8 {
  threads.enter()
  Thread.detachNewThread {
    for _ in 0..<1_000 {
      var received = 0
      if number < 4 {
        let loop = EventLoop()
        let subscription = [1, 2, 3].publisher.receive(on: loop).sink { _ in received += 1 }
        loop.run()
        withExtendedLifetime(subscription) {}
        lock.withLock {
          loops += 1
          values += received
        }
      } else {
        _ = [1, 2, 3].publisher.buffer(size: 3, prefetch: .keepFull, whenFull: .dropOldest).sink { _ in received += 1 }
      }
    }
    threads.leave()
  }
}
if threads.wait(timeout: .now() + 60) == .timedOut { print("the threads wait for each other") }
print("\(loops) loops, \(values) values")
