import Dispatch
import FeedStream
import Foundation

// The main thread sends values, and queues request more of them, in a program without a loop: while a value waits for the thread that
// is in the stream, this thread causes the next one, or the completion, which must not overtake it.
// Expects: 1000 downloads, 1000 results in order, 1000 delayed downloads

final class Received: @unchecked Sendable {
  private let lock = NSLock()
  private var list: [Int] = []
  private var isOver = false
  func add(_ number: Int) { lock.withLock { list.append(number) } }
  func end() { lock.withLock { isOver = true } }
  var numbers: [Int] { lock.withLock { list } }

  /// Waits for the completion, for at most ten seconds.
  func wait() {
    for _ in 0..<100_000 where !lock.withLock({ isOver }) { usleep(100) }
  }
}

func load(_ number: Int) -> Future<Int, Never> {
  Future { promise in DispatchQueue.global().async { promise(.success(number)) } }
}

/// The number of streams that delivered what they should.
func count<P: Publisher<Int, Never>>(
  sorted: Bool = true, _ make: (PassthroughSubject<Int, Never>) -> P
) -> Int {
  var right = 0
  for _ in 0..<1_000 {
    let numbers = PassthroughSubject<Int, Never>()
    let received = Received()
    let subscription = make(numbers).sink { _ in
      received.end()
    } receiveValue: {
      received.add($0)
    }
    for number in 0..<12 { numbers.send(number) }
    numbers.send(completion: .finished)
    received.wait()
    let list = sorted ? received.numbers.sorted() : received.numbers
    if list == Array(0..<12) { right += 1 }
    subscription.cancel()
  }
  return right
}

let downloads = count {
  $0.buffer(size: 100, prefetch: .keepFull, whenFull: .dropOldest).flatMap(maxPublishers: .max(6), load)
}
let ordered = count(sorted: false) {
  $0.buffer(size: 100, prefetch: .keepFull, whenFull: .dropOldest).mapAsync(limit: 4) { $0 }
}
let queue = DispatchQueue(label: "delay")
let delayed = count {
  $0.buffer(size: 100, prefetch: .keepFull, whenFull: .dropOldest).flatMap(maxPublishers: .max(6), load)
    .delay(for: .microseconds(10), scheduler: queue)
}
print("\(downloads) downloads, \(ordered) results in order, \(delayed) delayed downloads")
