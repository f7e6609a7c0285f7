import FeedStream
import FeedStreamTesting
import TestSupport
import Testing

@Suite(.settled) struct OnBackpressureTests {
  let subject = PassthroughSubject<Int, Boom>()

  @Test func `a value without demand is dropped and passed to the handler`() {
    var dropped: [Int] = []
    let recorder = subject.onBackpressureDrop { dropped.append($0) }.record(demand: .max(1))
    for value in 1...3 { subject.send(value) }
    recorder.request(.max(1))
    subject.send(4)
    #expect(recorder.values == [1, 4])
    #expect(dropped == [2, 3])
  }

  @Test func `onBackpressureLatest holds the latest value until it is requested, then completes`() {
    var dropped: [Int] = []
    let recorder = subject.onBackpressureLatest { dropped.append($0) }.record(demand: .max(1))
    for value in 1...3 { subject.send(value) }
    subject.send(completion: .finished)
    #expect(recorder.values == [1])
    #expect(recorder.completion == nil)
    recorder.request(.max(1))
    #expect(recorder.values == [1, 3])
    #expect(recorder.completion == .finished)
    #expect(dropped == [2])
  }

  @Test func `a value sent while another is held isn't delivered before it`() {
    var dropped: [Int] = []
    let recorder = subject.onBackpressureLatest { dropped.append($0) }.record(demand: .max(1))
    recorder.onValue = { [unowned recorder, subject] value in
      guard value == 1 else { return }
      subject.send(2)
      recorder.request(.max(1))
      subject.send(3)
    }
    subject.send(1)
    recorder.request(.unlimited)
    #expect(recorder.values == [1, 3])
    #expect(dropped == [2])
  }

  @Test func `a value after the completion doesn't replace the held value`() {
    let late = MisbehavingPublisher<Int, Boom>(.emitsAfterEnding, values: [1, 2], on: VirtualTimeScheduler())
    let recorder = late.onBackpressureLatest().record(demand: .none)
    recorder.request(.unlimited)
    #expect(recorder.values == [2])
    #expect(recorder.completion == .finished)
  }

  @Test func `a failure doesn't wait for the held value, which is reported as dropped`() {
    var dropped: [Int] = []
    let recorder = subject.onBackpressureLatest { dropped.append($0) }.record(demand: .none)
    subject.send(1)
    subject.send(completion: .failure(Boom()))
    #expect(recorder.values.isEmpty)
    #expect(recorder.failure == Boom())
    #expect(dropped == [1])
  }

  @Test func `onBackpressureError fails with the first value without demand`() {
    var refused: [Int] = []
    let recorder = subject.onBackpressureError {
      refused.append($0)
      return Boom()
    }.record(demand: .max(1))
    for value in 1...3 { subject.send(value) }
    #expect(recorder.values == [1])
    #expect(recorder.failure == Boom())
    #expect(refused == [2])
  }

  @Test func `a value that arrives while the held one is delivered comes after it`() {
    let recorder = subject.onBackpressureLatest().record(demand: .none)
    recorder.onValue = { [subject] in if $0 == 1 { subject.send(2) } }
    subject.send(1)
    recorder.request(.max(1))
    #expect(recorder.values == [1])
    recorder.request(.max(1))
    #expect(recorder.values == [1, 2])
  }

  @Test func `onBackpressureLatest keeps the stack flat when each value requests the next`() {
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

  @Test func `a requested latest value is delivered before the source's failure`() {
    for isAsked in [true, false] {
      let subject = PassthroughSubject<Int, Boom>()
      let recorder = subject.onBackpressureLatest().record(demand: .max(1))
      recorder.onValue = { [unowned recorder] in
        guard $0 == 1 else { return }
        subject.send(2)
        if isAsked { recorder.request(.max(1)) }
        subject.send(completion: .failure(Boom()))
      }
      subject.send(1)
      #expect(recorder.values == (isAsked ? [1, 2] : [1]))
      #expect(recorder.failure == Boom())
    }
  }
}

/// Requests one value, and then as many as its closure returns.
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
