import FeedStream
import Synchronization
import TestSupport
import Testing

@Suite(.settled) struct ReplaySubjectTests {
  private let time = MarbleTime()

  @Test func `a new subscriber receives the last values first, then those that follow`() {
    let subject = ReplaySubject<Int, Boom>(count: 2)
    for value in 1...3 { subject.send(value) }
    let recorder = subject.record(on: time)
    #expect(recorder.values == [2, 3])
    subject.send(4)
    subject.send(completion: .failure(Boom()))
    #expect(recorder.marbles == "(234#)")
    #expect(subject.record(on: time).marbles == "(34#)")
  }

  @Test func `what is too old is given up`() {
    let subject = ReplaySubject<Int, Never>(maxAge: .seconds(10), scheduler: time)
    subject.send(1)
    time.advance(by: 6)
    subject.send(2)
    time.advance(by: 3)
    #expect(subject.record(on: time).values == [1, 2])
    time.advance(by: 1)
    #expect(subject.record(on: time).values == [2])
    time.advance(by: 6)
    #expect(subject.record(on: time).values == [])
  }

  @Test func `the ending waits for the values kept, and for nothing when there are none`() {
    let subject = ReplaySubject<Int, Never>(count: 1)
    subject.send(1)
    subject.send(completion: .finished)
    let recorder = subject.record(on: time, asking: .none)
    #expect(recorder.completion == nil)
    recorder.request(.max(1))
    #expect(recorder.marbles == "(1|)")
    let empty = ReplaySubject<Int, Never>(count: 1)
    empty.send(completion: .finished)
    #expect(empty.record(on: time, asking: .none).marbles == "|")
  }

  @Test func `a subscriber that asks too late misses what was given up`() {
    let subject = ReplaySubject<Int, Never>(count: 2)
    let recorder = subject.record(on: time, asking: .max(1))
    for value in 1...2 { subject.send(value) }
    #expect(subject.send(3) == Delivery(dropped: 1))
    subject.send(4)
    #expect(recorder.values == [1])
    recorder.request(.unlimited)
    #expect(recorder.values == [1, 3, 4])
  }

  @Test func `values sent while one is delivered come after it, for everybody and without loss`() {
    let subject = ReplaySubject<Int, Never>(count: 1)
    let first = subject.record(on: time)
    let second = subject.record(on: time)
    first.onValue = { value in
      if value == 1 {
        subject.send(2)
        subject.send(3)
      }
    }
    subject.send(1)
    #expect(first.values == [1, 2, 3])
    #expect(second.values == [1, 2, 3])
    #expect(subject.record(on: time).values == [3])
  }

  @Test func `who subscribes within a delivery is given no more than is kept`() {
    let subject = ReplaySubject<Int, Never>(count: 1)
    let first = subject.record(on: time)
    var late: Recorder<Int, Never>?
    first.onValue = { [time] value in
      guard value == 1 else { return }
      subject.send(2)
      subject.send(3)
      late = subject.record(on: time)
    }
    subject.send(1)
    #expect(first.values == [1, 2, 3])
    #expect(late?.values == [3])
  }

  @Test func `a million values pulled one by one keep the stack flat`() {
    let subject = ReplaySubject<Int, Never>(count: .max)
    for value in 1...1_000_000 { subject.send(value) }
    let recorder = Recorder<Int, Never>(time, .max(1), .none)
    var last = 0
    recorder.onValue = {
      last = $0
      recorder.request(.max(1))
    }
    subject.subscribe(LastOnly(recorder))
    #expect(last == 1_000_000)
  }
}

/// Passes on without writing down: a million marbles are too many.
private final class LastOnly: Subscriber {
  private let recorder: Recorder<Int, Never>
  init(_ recorder: Recorder<Int, Never>) { self.recorder = recorder }
  func receive(subscription: any Subscription) { recorder.receive(subscription: subscription) }
  func receive(_ input: Int) -> Subscribers.Demand {
    recorder.onValue(input)
    return .none
  }
  func receive(completion: Subscribers.Completion<Never>) {}
}
