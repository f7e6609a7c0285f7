import FeedStream
import Foundation

// cancelAllOperations() drops the operation that would deliver a value: the stream starts another one.
// Expects: [1, 2, 3]

let operations = OperationQueue()
let numbers = PassthroughSubject<Int, Never>()
nonisolated(unsafe) var received: [Int] = []
let lock = NSLock()
let subscription = numbers.receive(on: operations).sink { number in lock.withLock { received.append(number) } }
operations.isSuspended = true
numbers.send(1)
operations.cancelAllOperations()
operations.isSuspended = false
numbers.send(2)
numbers.send(3)
for _ in 0..<1_000 where lock.withLock({ received.count }) < 3 { usleep(1_000) }
print(lock.withLock { received })
