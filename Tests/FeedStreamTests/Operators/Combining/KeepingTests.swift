import FeedStream
import TestSupport
import Testing

@Suite("operators that hold values keep all of them", .settled) struct KeepingTests {
  private let time = MarbleTime()

  @Test func `concatMap keeps what a subject sends while a publisher runs`() {
    let subject = PassthroughSubject<Int, Never>()
    let inner = (0..<3).map { _ in PassthroughSubject<String, Never>() }
    var mapped: [Int] = []
    let recorder = subject.concatMap { number in
      mapped.append(number)
      return inner[number]
    }.record(on: time)
    for number in 0..<3 { #expect(subject.send(number) == Delivery(delivered: 1)) }
    subject.send(completion: .finished)
    #expect(mapped == [0])
    for number in 0..<3 {
      inner[number].send("\(number)")
      inner[number].send(completion: .finished)
    }
    #expect(mapped == [0, 1, 2])
    #expect(recorder.values == ["0", "1", "2"])
    #expect(recorder.completion == .finished)
  }

  @Test func `combineLatest of three and of four combines the newest, however little is asked for`() {
    let (a, b, c, d) = (subject(), subject(), subject(), subject())
    let three = a.combineLatest(b, c).record(on: time, asking: .max(2))
    let four = a.combineLatest(b, c, d).record(on: time, asking: .max(2))
    let pack = combineLatest(a, b, c).record(on: time, asking: .max(2))
    for number in [1, 2] {
      a.send(number)
      b.send(number)
    }
    d.send(8)
    c.send(9)
    #expect(three.values.map { [$0, $1, $2] } == [[2, 2, 9]])
    #expect(four.values.map { [$0, $1, $2, $3] } == [[2, 2, 9, 8]])
    #expect(pack.values.map { [$0, $1, $2] } == [[2, 2, 9]])
    for recorder in [three.cancel, four.cancel, pack.cancel] { recorder() }
  }

  @Test func `onBackpressureLatest keeps the stack flat when each value brings the next`() {
    for answers in [true, false] {
      let subject = PassthroughSubject<Int, Never>()
      var last = 0
      let subscriber = Pulling { value, subscription in
        last = value
        if value < 200_000 { subject.send(value + 1) }
        if !answers { subscription.request(.max(1)) }
        return answers ? .max(1) : .none
      }
      subject.onBackpressureLatest().subscribe(subscriber)
      subject.send(0)
      #expect(last == 200_000)
      subscriber.cancel()
    }
  }

  @Test func `groups end in the order in which they began`() {
    let subject = PassthroughSubject<Int, Never>()
    var ended: [Int] = []
    var cancellables: Set<AnyCancellable> = []
    subject.groupBy { $0 }.sink { group in
      group.sink(receiveCompletion: { _ in ended.append(group.key) }, receiveValue: { _ in }).store(in: &cancellables)
    }.store(in: &cancellables)
    for key in 0..<32 { subject.send(key) }
    subject.send(completion: .finished)
    #expect(ended == Array(0..<32))
  }

  private func subject() -> PassthroughSubject<Int, Never> { PassthroughSubject() }
}

/// Asks for one value, and then for what its closure says.
private final class Pulling: Subscriber {
  private let take: (Int, any Subscription) -> Subscribers.Demand
  private var subscription: (any Subscription)?

  init(_ take: @escaping (Int, any Subscription) -> Subscribers.Demand) { self.take = take }

  func receive(subscription: any Subscription) {
    self.subscription = subscription
    subscription.request(.max(1))
  }
  func receive(_ input: Int) -> Subscribers.Demand { subscription.map { take(input, $0) } ?? .none }
  func receive(completion: Subscribers.Completion<Never>) {}

  func cancel() {
    subscription?.cancel()
    subscription = nil
  }
}
