// Requests made at once and merged, and another request for each answer. Without a loop.
// Expects: 400 streams of each kind, each complete
import Dispatch
import FeedStream
import Foundation

func answer(_ number: Int) -> Future<String, Never> {
  Future { promise in DispatchQueue.global().async { promise(.success("the answer to request \(number)")) } }
}

let queue = DispatchQueue(label: "work")
let lock = NSLock()
nonisolated(unsafe) var values = 0
nonisolated(unsafe) var ends = 0
func isComplete(_ answers: some Publisher<String, Never>, _ count: Int?) -> Bool {
  lock.withLock { (values, ends) = (0, 0) }
  let subscription = answers.sink(
    receiveCompletion: { _ in lock.withLock { ends += 1 } }, receiveValue: { _ in lock.withLock { values += 1 } })
  let end = Date() + 10
  while lock.withLock({ ends }) == 0, Date() < end { RunLoop.main.run(until: Date() + 0.001) }
  subscription.cancel()
  return lock.withLock { ends == 1 && (count == nil || values == count) }
}

var flattened = 0
var switched = 0
for _ in 0..<400 {
  let answers = Publishers.MergeMany((0..<30).map(answer))
  if isComplete(answers.flatMap { answer($0.count) }, 30) { flattened += 1 }
  let again = Publishers.MergeMany((0..<30).map(answer))
  if isComplete(again.map { Just($0).receive(on: queue) }.switchToLatest(), nil) { switched += 1 }
}
print(
  flattened == 400 && switched == 400
    ? "400 streams of each kind, each complete" : "complete: \(flattened) flattened and \(switched) switched")
