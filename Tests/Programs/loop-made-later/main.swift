import Dispatch
import FeedStream

// Values on their way from a queue to the main queue when the loop is made: run() waits for them.
// Expects: 500 values

nonisolated(unsafe) var count = 0
let subscriptions = (0..<500).map { number in
  Just(number).delay(for: .microseconds(number * 20), scheduler: DispatchQueue.global())
    .receive(on: DispatchQueue.main).sink { _ in count += 1 }
}
EventLoop().run()
print("\(count) values")
withExtendedLifetime(subscriptions) {}
