import Harness

#if ON_OPENCOMBINE
  import OpenCombine
#else
  import FeedStream
#endif

/// The numbers from zero, with the sequence's type hidden: its publisher's own operators would run before anyone
/// subscribes.
struct Numbers: Publisher {
  typealias Output = Int
  typealias Failure = Never

  let count: Int

  func receive<S: Subscriber>(subscriber: S) where S.Input == Int, S.Failure == Never {
    Publishers.Sequence<Range<Int>, Never>(sequence: 0..<count).receive(subscriber: subscriber)
  }
}

/// Numbers whose publisher may fail, but never does.
struct FallibleNumbers: Publisher {
  typealias Output = Int
  typealias Failure = any Error

  let count: Int

  func receive<S: Subscriber>(subscriber: S) where S.Input == Int, S.Failure == any Error {
    Publishers.Sequence<Range<Int>, any Error>(sequence: 0..<count).receive(subscriber: subscriber)
  }
}

/// Requests one value after another.
final class OneByOne: Subscriber {
  typealias Input = Int
  typealias Failure = Never

  private let add: (Int) -> Void

  init(_ add: @escaping (Int) -> Void) { self.add = add }

  func receive(subscription: any Subscription) { subscription.request(.max(1)) }

  func receive(_ input: Int) -> Subscribers.Demand {
    add(input)
    return .max(1)
  }

  func receive(completion: Subscribers.Completion<Never>) {}
}

/// Subscribes to the pipeline that `chain` makes from the given number of integers.
func numbers(_ chain: @escaping (Numbers, Int, @escaping (Int) -> Void) -> AnyCancellable) -> (Int) -> Int {
  { count in
    let total = Total()
    let subscription = chain(Numbers(count: count), count, total.add)
    withExtendedLifetime(subscription) {}
    return total.value
  }
}

func fallible(_ chain: @escaping (FallibleNumbers, @escaping (Int) -> Void) -> AnyCancellable) -> (Int) -> Int {
  { count in
    let total = Total()
    let subscription = chain(FallibleNumbers(count: count), total.add)
    withExtendedLifetime(subscription) {}
    return total.value
  }
}

typealias Numeric = PassthroughSubject<Int, Never>

/// Sends the given number of integers through a subject.
func sent(_ chain: @escaping (Numeric, @escaping (Int) -> Void) -> AnyCancellable) -> (Int) -> Int {
  { count in
    let total = Total()
    let subject = Numeric()
    let subscription = chain(subject, total.add)
    for number in 0..<count { subject.send(number) }
    subscription.cancel()
    return total.value
  }
}

/// Sends the given number of integers through two subjects in turn.
func sentToTwo(_ chain: @escaping (Numeric, Numeric, @escaping (Int) -> Void) -> AnyCancellable) -> (Int) -> Int {
  { count in
    let total = Total()
    let left = Numeric()
    let right = Numeric()
    let subscription = chain(left, right, total.add)
    for number in 0..<count / 2 {
      left.send(number)
      right.send(number)
    }
    subscription.cancel()
    return total.value
  }
}

/// Sends integers to the given number of subscribers; an element is a delivery.
func sent(toSubscribers subscribers: Int) -> (Int) -> () -> Int {
  { count in
    let total = Total()
    let subject = Numeric()
    let subscriptions = (0..<subscribers).map { _ in subject.sink(receiveValue: total.add) }
    return {
      for number in 0..<count / subscribers { subject.send(number) }
      withExtendedLifetime(subscriptions) {}
      return total.value
    }
  }
}
