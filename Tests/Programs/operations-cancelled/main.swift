import FeedStream
import Foundation

// cancelAllOperations() drops the operations that would deliver a value, or a value that waits for its time: the streams start
// other ones.
// Expects: [1, 2, 3], [1, 2, 3], [3], [3]

let operations = OperationQueue()
let numbers = PassthroughSubject<Int, Never>()
nonisolated(unsafe) var received: [[Int]] = [[], [], [], []]
let lock = NSLock()
func add(_ number: Int, to list: Int) { lock.withLock { received[list].append(number) } }
let subscriptions = [
  numbers.receive(on: operations).sink { add($0, to: 0) },
  numbers.delay(for: .milliseconds(1), scheduler: operations).sink { add($0, to: 1) },
  numbers.throttle(for: .milliseconds(1), scheduler: operations, latest: true).sink { add($0, to: 2) },
  numbers.debounce(for: 0, scheduler: operations).sink { add($0, to: 3) },
]
operations.isSuspended = true
numbers.send(1)
numbers.send(2)
numbers.send(3)
usleep(20_000)
operations.cancelAllOperations()
operations.isSuspended = false
for _ in 0..<500 where lock.withLock({ received.map(\.count) }) != [3, 3, 1, 1] { usleep(1_000) }
print(lock.withLock { received }.map { "\($0)" }.joined(separator: ", "))
withExtendedLifetime(subscriptions) {}
