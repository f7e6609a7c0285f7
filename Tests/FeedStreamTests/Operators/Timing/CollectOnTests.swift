import FeedStream
import FeedStreamTesting
import TestSupport
import Testing

@Suite(.settled) struct CollectOnTests {
  @Test func `buffer(on:) delivers the values since the last trigger`() {
    let trigger = PassthroughSubject<Void, Never>()
    let subject = PassthroughSubject<Character, Never>()
    let recorder = subject.buffer(on: trigger).record()
    for value in "ab" { subject.send(value) }
    trigger.send()
    trigger.send()
    subject.send("c")
    trigger.send(completion: .finished)
    #expect(recorder.values == [["a", "b"], ["c"]])
    #expect(recorder.completion == .finished)
  }

  @Test func `a trigger without values before it delivers no array, even during a delivery`() {
    let trigger = PassthroughSubject<Void, Never>()
    let subject = PassthroughSubject<Int, Never>()
    let recorder = subject.buffer(on: trigger).record()
    recorder.onValue = { value in
      guard value == [1] else { return }
      trigger.send()
      subject.send(2)
    }
    subject.send(1)
    trigger.send()
    #expect(recorder.values == [[1]])
    subject.send(3)
    trigger.send()
    #expect(recorder.values == [[1], [2, 3]])
    recorder.cancel()
  }

  @Test func `a trigger that completes during a delivery delivers no empty array`() {
    let trigger = PassthroughSubject<Void, Never>()
    let subject = PassthroughSubject<Int, Never>()
    let recorder = subject.buffer(on: trigger).record(demand: .max(1))
    recorder.onValue = { [unowned recorder] _ in
      trigger.send(completion: .finished)
      recorder.request(.max(1))
    }
    subject.send(1)
    trigger.send()
    #expect(recorder.values == [[1]])
    #expect(recorder.completion == .finished)
  }

  @Test func `each trigger during a delivery delivers its own array`() {
    let trigger = PassthroughSubject<Void, Never>()
    let subject = PassthroughSubject<Int, Boom>()
    let recorder = subject.buffer(on: trigger).record()
    recorder.onValue = { value in
      guard value == [1] else { return }
      for number in [2, 3] {
        subject.send(number)
        trigger.send()
      }
      subject.send(4)
      subject.send(completion: .failure(Boom()))
    }
    subject.send(1)
    trigger.send()
    #expect(recorder.values == [[1], [2], [3]])
    #expect(recorder.failure == Boom())
  }

  @Test func `without demand, an array grows until it is requested`() {
    let trigger = PassthroughSubject<Void, Never>()
    let subject = PassthroughSubject<Int, Never>()
    let recorder = subject.buffer(on: trigger).record(demand: .none)
    for number in 1...3 {
      subject.send(number)
      trigger.send()
    }
    subject.send(4)
    recorder.request(.max(1))
    #expect(recorder.values == [[1, 2, 3, 4]])
    recorder.cancel()
  }
}
