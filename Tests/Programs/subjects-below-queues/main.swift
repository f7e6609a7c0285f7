// A subject's values go to queues, and zip and combineLatest join them with others. Both have requested values when sink
// returns, so no value that is sent after that may be lost.
// Expects: 100 zipped, 100 shifted, 100 delayed, 100 mapped, 100 nested, 100 late
import Dispatch
import FeedStream

typealias Pairs = AnyPublisher<(Int, Int), Never>

/// The number of rounds in which ten values, sent after sink has returned, all arrive as `isRight` says.
func rounds(_ isRight: @escaping (Int, Int, Int) -> Bool, _ join: (PassthroughSubject<Int, Never>) -> Pairs) -> Int {
  var right = 0
  for _ in 0..<100 {
    let subject = PassthroughSubject<Int, Never>()
    let done = DispatchSemaphore(value: 0)
    nonisolated(unsafe) var pairs: [(Int, Int)] = []
    let subscription = join(subject).sink { _ in
      done.signal()
    } receiveValue: {
      pairs.append($0)
    }
    for number in 0..<10 { subject.send(number) }
    subject.send(completion: .finished)
    done.wait()
    if pairs.count == 10, pairs.enumerated().allSatisfy({ isRight($0, $1.0, $1.1) }) { right += 1 }
    subscription.cancel()
  }
  return right
}

let queue = DispatchQueue(label: "numbers")
let same: (Int, Int, Int) -> Bool = { index, first, second in first == index && second == index }
let zipped = rounds(same) { (0..<10).publisher.zip($0.receive(on: queue)).eraseToAnyPublisher() }
let shifted = rounds(same) { $0.zip($0.receive(on: DispatchQueue.global())).eraseToAnyPublisher() }
let delayed = rounds(same) { subject in
  (0..<10).publisher.zip(subject.delay(for: .milliseconds(1), scheduler: queue)).eraseToAnyPublisher()
}
let withTwo: (Int, Int, Int) -> Bool = { index, first, second in first == index && second == 2 }
let mapped = rounds(withTwo) { subject in
  subject.receive(on: queue).scan(0) { $1 }.combineLatest(Just(2)).eraseToAnyPublisher()
}
let nested = rounds(same) { subject in
  subject.receive(on: queue).merge(with: Empty()).zip((0..<10).publisher).eraseToAnyPublisher()
}

/// Requests values on the main thread after subscribing.
final class Late: Subscriber, @unchecked Sendable {
  var subscription: (any Subscription)?
  var count = 0
  let done = DispatchSemaphore(value: 0)
  func receive(subscription: any Subscription) { self.subscription = subscription }
  func receive(_ input: Int) -> Subscribers.Demand {
    count += 1
    return .none
  }
  func receive(completion: Subscribers.Completion<Never>) { done.signal() }
}

var late = 0
for _ in 0..<100 {
  let subject = PassthroughSubject<Int, Never>()
  let subscriber = Late()
  subject.receive(on: queue).subscribe(subscriber)
  subscriber.subscription?.request(.unlimited)
  for number in 0..<10 { subject.send(number) }
  subject.send(completion: .finished)
  subscriber.done.wait()
  if subscriber.count == 10 { late += 1 }
}
print("\(zipped) zipped, \(shifted) shifted, \(delayed) delayed, \(mapped) mapped, \(nested) nested, \(late) late")
