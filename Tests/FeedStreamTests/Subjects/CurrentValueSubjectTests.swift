import FeedStream
import FeedStreamTesting
import TestSupport
import Testing

@Suite(.settled) struct CurrentValueSubjectTests {
  @Test func `a subscriber begins with the present value and sees every one that follows`() {
    let subject = CurrentValueSubject<Int, MarbleFailure>(0)
    subject.send(1)
    let recorder = subject.record()
    subject.value += 1
    subject.send(completion: .failure(MarbleFailure()))
    recorder.expect("(12#)")
  }

  @Test func `a value not requested waits, and a newer one takes its place`() {
    let subject = CurrentValueSubject<Int, Never>(0)
    let recorder = subject.record(demand: .max(1))
    #expect(subject.send(1) == Delivery(dropped: 1))
    #expect(subject.send(2) == Delivery(dropped: 1))
    #expect(recorder.values == [0])
    recorder.request(.max(2))
    #expect(recorder.values == [0, 2])
    #expect(subject.send(3) == Delivery(delivered: 1))
    #expect(recorder.values == [0, 2, 3])
  }

  @Test func `asking again does not repeat a value that was seen`() {
    let subject = CurrentValueSubject<Int, Never>(0)
    let recorder = subject.record(demand: .max(1))
    recorder.request(.max(1))
    recorder.request(.max(1))
    #expect(recorder.values == [0])
  }

  @Test func `a value sent within a delivery and requested by its answer comes next, once`() {
    let subject = CurrentValueSubject<Int, Never>(0)
    let recorder = subject.record(demand: .oneByOne)
    recorder.onValue = { if $0 == 1 { subject.send(2) } }
    subject.send(1)
    #expect(recorder.values == [0, 1, 2])
    subject.send(3)
    recorder.request(.max(1))
    #expect(recorder.values == [0, 1, 2, 3])
  }

  @Test func `a value missed within a delivery comes after an older one that follows it`() {
    let subject = CurrentValueSubject<Int, Never>(0)
    let first = subject.record()
    let second = subject.record(demand: .oneByOne)
    first.onValue = { if $0 == 1 { subject.send(2) } }
    // It has asked for no more when 3 is sent, and is asked for in the answer to 2, which the 1 uses up.
    second.onValue = { if $0 == 2 { subject.send(3) } }
    subject.send(1)
    #expect(first.values == [0, 1, 2, 3])
    #expect(second.values == [0, 2, 1, 3])
    for recorder in [first, second] { recorder.cancel() }
  }

  @Test func `after the completion nothing is sent, and a late sender is told`() {
    let subject = CurrentValueSubject<Int, Never>(0)
    subject.send(completion: .finished)
    #expect(subject.send(1).isTerminated)
    #expect(subject.value == 0)
    subject.record(demand: .none).expect("|")
  }

  @Test func `a subscriber cancelled while a value is delivered does not receive it`() {
    let subject = CurrentValueSubject<Int, Never>(0)
    let first = subject.record()
    let second = subject.record()
    first.onValue = { _ in second.cancel() }
    subject.send(1)
    #expect(first.values == [0, 1])
    #expect(second.values == [0])
  }

  @Test func `a value requested while another subscriber receives it is delivered once`() {
    let subject = CurrentValueSubject<Int, Never>(0)
    let first = subject.record()
    let second = subject.record(demand: .none)
    first.onValue = { if $0 == 1 { second.request(.max(3)) } }
    #expect(subject.send(1) == Delivery(delivered: 2))
    #expect(second.values == [1])
    subject.send(2)
    #expect(second.values == [1, 2])
    for recorder in [first, second] { recorder.cancel() }
  }

  @Test func `a value that was replaced before it was requested does not come after the newer one`() {
    let subject = CurrentValueSubject<Int, Never>(0)
    let first = subject.record()
    let second = subject.record(demand: .none)
    first.onValue = {
      if $0 == 1 {
        subject.send(2)
        second.request(.unlimited)
      }
    }
    subject.send(1)
    #expect(second.values == [2])
    for recorder in [first, second] { recorder.cancel() }
  }

  @Test func `the newest value, seen within another's delivery of an older one, is not delivered again`() {
    let subject = CurrentValueSubject<Int, Never>(0)
    let first = subject.record()
    let second = subject.record(demand: .max(2))
    first.onValue = { if $0 == 1 { subject.send(2) } }
    #expect(subject.send(1) == Delivery(delivered: 1, dropped: 1))
    #expect(second.values == [0, 2])
    second.request(.max(2))
    #expect(second.values == [0, 2])
    subject.send(3)
    #expect(second.values == [0, 2, 3])
    for recorder in [first, second] { recorder.cancel() }
  }
}
