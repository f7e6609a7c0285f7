import Dispatch
import FeedStream

// Values on their way from a queue to the main queue when the loop is made: run() waits for them.
// Expects: 500 values, 300 from flatMap

nonisolated(unsafe) var (count, flattened) = (0, 0)
var subscriptions = (0..<500).map { number in
  Just(number).delay(for: .microseconds(number * 20), scheduler: DispatchQueue.global())
    .receive(on: DispatchQueue.main).sink { _ in count += 1 }
}
let numbers = PassthroughSubject<Int, Never>()
numbers
  .flatMap { Just($0).delay(for: .microseconds($0 * 7 % 300), scheduler: DispatchQueue.global()) }
  .receive(on: DispatchQueue.main)
  .sink { _ in flattened += 1 }
  .store(in: &subscriptions)
for number in 0..<300 { numbers.send(number) }
EventLoop().run()
print("\(count) values, \(flattened) from flatMap")
withExtendedLifetime(subscriptions) {}
