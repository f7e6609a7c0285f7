import FeedStream
import FeedStreamTesting
import TestSupport
import Testing

@Suite(.settled) struct CurrentValueSubjectTests {
  @Test func `a subscriber receives the current value, then every later one`() {
    let subject = CurrentValueSubject<Int, MarbleFailure>(0)
    subject.send(1)
    let recorder = subject.record()
    subject.value += 1
    subject.send(completion: .failure(MarbleFailure()))
    recorder.expect("(12#)")
  }

  @Test func `an unrequested value waits, and a newer one replaces it`() {
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

  @Test func `another request doesn't repeat a value that was delivered`() {
    let subject = CurrentValueSubject<Int, Never>(0)
    let recorder = subject.record(demand: .max(1))
    recorder.request(.max(1))
    recorder.request(.max(1))
    #expect(recorder.values == [0])
  }

  @Test func `a value sent during a delivery and requested by its returned demand is delivered next, once`() {
    let subject = CurrentValueSubject<Int, Never>(0)
    let recorder = subject.record(demand: .oneByOne)
    recorder.onValue = { if $0 == 1 { subject.send(2) } }
    subject.send(1)
    #expect(recorder.values == [0, 1, 2])
    subject.send(3)
    recorder.request(.max(1))
    #expect(recorder.values == [0, 1, 2, 3])
  }

  @Test func `a value missed during a delivery is delivered after an older one that follows it`() {
    let subject = CurrentValueSubject<Int, Never>(0)
    let first = subject.record()
    let second = subject.record(demand: .oneByOne)
    first.onValue = { if $0 == 1 { subject.send(2) } }
    // This subscriber has no demand when 3 is sent. The demand that it returns for 2 is used up by 1.
    second.onValue = { if $0 == 2 { subject.send(3) } }
    subject.send(1)
    #expect(first.values == [0, 1, 2, 3])
    #expect(second.values == [0, 2, 1, 3])
    for recorder in [first, second] { recorder.cancel() }
  }

  @Test func `after the completion no value is sent, and send reports it`() {
    let subject = CurrentValueSubject<Int, Never>(0)
    subject.send(completion: .finished)
    #expect(subject.send(1).isTerminated)
    #expect(subject.value == 0)
    subject.record(demand: .none).expect("|")
  }

  @Test func `a subscriber cancelled while a value is delivered to others doesn't receive it`() {
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

  @Test func `a value replaced before it was requested isn't delivered after the newer one`() {
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

  @Test func `the newest value, delivered during an older one's delivery, isn't delivered again`() {
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
