import Dispatch
import FeedStream
import Foundation

// Shared streams that are over, released on another thread: by the queue that runs the part below, and by the program.
// Expects: [0, 1, 2], then released

let received = DispatchSemaphore(value: 0)
let lock = NSLock()
nonisolated(unsafe) var values: [Int] = []
do {
  let shared = (0..<3).publisher.share()
  let subscription = shared.receive(on: DispatchQueue(label: "values")).retry(2)
    .sink { _ in
      received.signal()
    } receiveValue: { value in
      lock.withLock { values.append(value) }
    }
  received.wait()
  withExtendedLifetime(subscription) {}
}

nonisolated(unsafe) var other: AnyPublisher<Int, Never>? = (0..<3).publisher
  .multicast { PassthroughSubject<Int, Never>() }.autoconnect().eraseToAnyPublisher()
let sink = other?.sink { _ in }
DispatchQueue.global().async {
  other = nil
  received.signal()
}
received.wait()
print("\(lock.withLock { values }), then \(other == nil ? "released" : "kept")")
withExtendedLifetime(sink) {}
