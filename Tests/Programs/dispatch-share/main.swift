// Shared streams on the main queue, without a loop, that are subscribed to from above receive(on:), while futures deliver on
// their own threads.
// Expects: 400 results each for 2 subscribers
import Dispatch
import FeedStream
import Foundation

let numbers = PassthroughSubject<Int, Never>()
let shared = numbers.share()
let results =
  shared
  .flatMap { number in
    Future<Int, Never> { promise in DispatchQueue.global().async { promise(.success(number)) } }
      .receive(on: DispatchQueue.main)
      .merge(with: shared.filter { $0 < 0 })
      .first()
  }
  .share()
nonisolated(unsafe) var counts = [0, 0]
var bag: Set<AnyCancellable> = []
for subscriber in 0..<2 {
  results.map { $0 + 1 }.receive(on: DispatchQueue.main).sink { _ in
    counts[subscriber] += 1
    guard counts == [400, 400] else { return }
    print("\(counts[0]) results each for 2 subscribers")
    exit(0)
  }
  .store(in: &bag)
}
let sending = Timer.publish(every: 0.0005, on: .main, in: .default).autoconnect()
  .scan(0) { count, _ in count + 1 }.prefix(400)
  .sink { numbers.send($0) }
dispatchMain()
