// Subjects and operators on the main queue, which dispatchMain() runs on other threads.
// Expects: 300 values, the last 299, and a sum of 44850
import Dispatch
import FeedStream

#if canImport(Glibc)
  import Glibc
#endif

let numbers = PassthroughSubject<Int, Never>()
let latest = CurrentValueSubject<Int, Never>(-1)
nonisolated(unsafe) var count = 0
nonisolated(unsafe) var bag: Set<AnyCancellable> = []
numbers.merge(with: Empty(completeImmediately: false)).sink { _ in count += 1 }.store(in: &bag)
numbers.subscribe(latest).store(in: &bag)
numbers.scan(0, +).dropFirst(299).sink {
  print("\(count) values, the last \(latest.value), and a sum of \($0)")
  exit(0)
}.store(in: &bag)
DispatchQueue.global().async {
  for number in 0..<300 {
    // Each value comes from its own thread, so that several threads serve the main queue.
    DispatchQueue.main.async { numbers.send(number) }
  }
}
dispatchMain()
