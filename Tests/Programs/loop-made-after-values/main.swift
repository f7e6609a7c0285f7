// Values, futures and asynchronous sequences of streams that were made before the loop: run() waits for them.
// Expects: 3 values, a promise, a task, mapped, an element, sent from below a queue
import Dispatch
import FeedStream
import Foundation

let lock = NSLock()
nonisolated(unsafe) var seen: [String] = []
@Sendable func see(_ text: String) { lock.withLock { seen.append(text) } }

let values = (0..<3).publisher.receive(on: DispatchQueue.global()).values
Task {
  var count = 0
  for await _ in values {
    try? await Task.sleep(for: .milliseconds(2))
    count += 1
    if count == 3 { see("3 values") }
  }
}
var bag: Set<AnyCancellable> = []
Future<Int, Never> { promise in
  DispatchQueue.global().asyncAfter(deadline: .now() + 0.02) { promise(.success(1)) }
}
.sink { _ in see("a promise") }.store(in: &bag)
Future { () async -> Int in
  try? await Task.sleep(for: .milliseconds(30))
  return 2
}
.sink { _ in see("a task") }.store(in: &bag)
Just(1).mapAsync(limit: 1) { number in
  try? await Task.sleep(for: .milliseconds(40))
  return number
}
.sink { _ in see("mapped") }.store(in: &bag)
AsyncStream<Int> { continuation in
  DispatchQueue.global().asyncAfter(deadline: .now() + 0.05) {
    continuation.yield(1)
    continuation.finish()
  }
}
.publisher.sink { _ in see("an element") }.store(in: &bag)
Create<Int, Never> { emitter in
  let sender = emitter.sender
  DispatchQueue.global().asyncAfter(deadline: .now() + 0.06) {
    sender.send(1)
    sender.send(completion: .finished)
  }
}
.subscribe(on: DispatchQueue(label: "below")).sink { _ in see("sent from below a queue") }.store(in: &bag)
EventLoop().run()
let order = ["3 values", "a promise", "a task", "mapped", "an element", "sent from below a queue"]
print(lock.withLock { order.filter(seen.contains) }.joined(separator: ", "))
