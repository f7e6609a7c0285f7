// Values of the main queue, merged, and a request for each; cancelled on another thread.
// Expects: 1000 streams were cancelled
import Dispatch
import FeedStream
import Foundation

final class Screen: @unchecked Sendable { var subscription: AnyCancellable? }
func answer(_ number: Int) -> Future<Int, Never> {
  Future { promise in DispatchQueue.global().async { promise(.success(number)) } }
}

for round in 0..<1_000 {
  let screen = Screen()
  screen.subscription = (0..<50).publisher.receive(on: DispatchQueue.main)
    .merge(with: (50..<60).publisher.receive(on: DispatchQueue.main))
    .flatMap { answer($0) }
    .sink { _ in }
  DispatchQueue.global().async {
    usleep(UInt32(round % 400))
    screen.subscription = nil
  }
  RunLoop.main.run(until: Date() + 0.000_8)
}
RunLoop.main.run(until: Date() + 0.1)
print("1000 streams were cancelled")
