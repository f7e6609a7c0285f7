import FeedStream
import FeedStreamTesting
import TestSupport
import Testing

@Suite(.settled) struct ReplaySubjectTests {
  @Test func `a new subscriber receives the kept values first, then later ones`() {
    let subject = ReplaySubject<Int, MarbleFailure>(count: 2)
    for value in 1...3 { subject.send(value) }
    let recorder = subject.record()
    #expect(recorder.values == [2, 3])
    subject.send(4)
    subject.send(completion: .failure(MarbleFailure()))
    recorder.expect("(234#)")
    subject.record().expect("(34#)")
  }

  @Test func `ReplaySubject drops values older than its maximum age`() {
    withVirtualTime { time in
      let subject = ReplaySubject<Int, Never>(maxAge: .milliseconds(10), scheduler: time)
      subject.send(1)
      time.advance(by: .milliseconds(6))
      subject.send(2)
      time.advance(by: .milliseconds(3))
      func replayed() -> [Int] {
        let recorder = subject.record(on: time)
        defer { recorder.cancel() }
        return recorder.values
      }
      #expect(replayed() == [1, 2])
      time.advance(by: .milliseconds(1))
      #expect(replayed() == [2])
      time.advance(by: .milliseconds(6))
      #expect(replayed() == [])
    }
  }

  @Test func `ReplaySubject drops values from before its clock was set back by the maximum age`() {
    withVirtualTime { time in
      let clock = SettableClock(time)
      let subject = ReplaySubject<Int, Never>(maxAge: .milliseconds(10), scheduler: clock)
      clock.offset = .seconds(3600)
      subject.send(1)
      func replayed() -> [Int] {
        let recorder = subject.record(on: time)
        defer { recorder.cancel() }
        return recorder.values
      }
      clock.offset -= .milliseconds(9)
      #expect(replayed() == [1])
      clock.offset = .zero
      subject.send(2)
      #expect(replayed() == [2])
    }
  }

  @Test func `the completion waits for the kept values, and isn't delayed without any`() {
    let subject = ReplaySubject<Int, Never>(count: 1)
    subject.send(1)
    subject.send(completion: .finished)
    let recorder = subject.record(demand: .none)
    #expect(recorder.completion == nil)
    recorder.request(.max(1))
    recorder.expect("(1|)")
    let empty = ReplaySubject<Int, Never>(count: 1)
    empty.send(completion: .finished)
    empty.record(demand: .none).expect("|")
  }

  @Test func `a subscriber that requests too late misses dropped values`() {
    let subject = ReplaySubject<Int, Never>(count: 2)
    let recorder = subject.record(demand: .max(1))
    for value in 1...2 { subject.send(value) }
    #expect(subject.send(3) == Delivery(dropped: 1))
    subject.send(4)
    #expect(recorder.values == [1])
    recorder.request(.unlimited)
    #expect(recorder.values == [1, 3, 4])
  }

  @Test func `values sent during a delivery come after it, for all subscribers and without loss`() {
    let subject = ReplaySubject<Int, Never>(count: 1)
    let first = subject.record()
    let second = subject.record()
    first.onValue = { value in
      if value == 1 {
        subject.send(2)
        subject.send(3)
      }
    }
    subject.send(1)
    #expect(first.values == [1, 2, 3])
    #expect(second.values == [1, 2, 3])
    #expect(subject.record().values == [3])
  }

  @Test func `a subscriber that attaches during a delivery gets only the kept values`() {
    let subject = ReplaySubject<Int, Never>(count: 1)
    let first = subject.record()
    var late: Recorder<Int, Never>?
    first.onValue = { value in
      guard value == 1 else { return }
      subject.send(2)
      subject.send(3)
      late = subject.record()
    }
    subject.send(1)
    #expect(first.values == [1, 2, 3])
    #expect(late?.values == [3])
  }

  @Test func `a million values pulled one by one keep the stack flat`() {
    let subject = ReplaySubject<Int, Never>(count: .max)
    for value in 1...1_000_000 { subject.send(value) }
    subject.send(completion: .finished)
    #expect(subject.pulled(.requesting) == 1_000_000)
  }

  @Test func `a value sent during a delivery counts as delivered if it was requested`() {
    let subject = ReplaySubject<Int, Never>(count: 1)
    let all = subject.record()
    let one = subject.record(demand: .max(1))
    var within: Delivery?
    all.onValue = { if $0 == 1 { within = subject.send(2) } }
    subject.send(1)
    #expect(all.values == [1, 2])
    #expect(one.values == [1])
    // The other subscriber has requested only the first value, which it has yet to receive.
    #expect(within == Delivery(delivered: 1, dropped: 1))
    #expect(within?.isLost == false)
  }
}
