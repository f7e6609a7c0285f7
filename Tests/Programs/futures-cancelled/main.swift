// Merged futures, without a loop, cancelled on the thread that subscribed while other threads fulfill them.
// Expects: cancelled
import Dispatch
import FeedStream
import Foundation

func ask(_ number: Int) -> Future<String, Never> {
  Future { promise in
    DispatchQueue.global().asyncAfter(deadline: .now() + .microseconds(number * 3)) {
      promise(.success("the answer of server number \(number)"))
    }
  }
}

let end = Date() + 1.5
var round: UInt32 = 0
while Date() < end {
  round += 1
  let answers = Publishers.MergeMany((0..<8).map(ask))
    .scan([String]()) { Array(($0 + [$1]).suffix(5)) }
    .collect(2)
    .sink { _ in }
  usleep(round % 10)
  answers.cancel()
}
print("cancelled")
