// A future made by code on one queue, and subscribed to on another. Without a loop.
// Expects: 20000 answers
import Dispatch
import FeedStream
import Foundation

func answer(_ number: Int) -> Future<String, Never> {
  Future { promise in DispatchQueue.global().async { promise(.success("the answer to request \(number)")) } }
}

let queue = DispatchQueue(label: "work")
var subscriptions: Set<AnyCancellable> = []
let lock = NSLock()
nonisolated(unsafe) var count = 0
for number in 0..<20_000 {
  Just(number).receive(on: queue)
    .flatMap { answer($0).subscribe(on: DispatchQueue.global()) }
    .sink { _ in lock.withLock { count += 1 } }
    .store(in: &subscriptions)
  if number.isMultiple(of: 50) { usleep(500) }
}
let end = Date() + 20
while lock.withLock({ count }) < 20_000, Date() < end { RunLoop.main.run(until: Date() + 0.01) }
print("\(lock.withLock { count }) answers")
