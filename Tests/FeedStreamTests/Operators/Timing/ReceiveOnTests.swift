import FeedStream
import FeedStreamTesting
import TestSupport
import Testing

@Suite(.settled) struct ReceiveOnTests {
  @Test func `receive(on:) delivers nothing within the call of send`() {
    withVirtualTime { time in
      let subject = PassthroughSubject<Character, MarbleFailure>()
      let recorder = subject.receive(on: time).record(on: time)
      subject.send("a")
      subject.send("b")
      subject.send(completion: .finished)
      recorder.expect("")
      time.advance()
      recorder.expect("(ab|)")
    }
  }

  @Test func `after cancel, neither a scheduled value nor a scheduled completion is delivered`() {
    withVirtualTime { time in
      let subject = PassthroughSubject<Character, MarbleFailure>()
      let recorder = subject.receive(on: time).record(on: time)
      subject.send("a")
      subject.send(completion: .finished)
      recorder.cancel()
      time.run()
      recorder.expect("")
    }
  }

  @Test func `receive(on:) requests no more than its subscriber`() {
    withVirtualTime { time in
      let recorder = (1...10).publisher.receive(on: time).record(on: time, demand: .max(2))
      time.advance(by: .milliseconds(1))
      #expect(recorder.values == [1, 2])
      recorder.request(.max(3))
      time.advance(by: .milliseconds(1))
      #expect(recorder.values == [1, 2, 3, 4, 5])
      #expect(recorder.completion == nil)
      recorder.cancel()
    }
  }

  @Test func `a hundred thousand values pulled one by one keep the stack flat`() {
    let recorder = (1...100_000).publisher.receive(on: ImmediateScheduler.shared)
      .record(demand: .oneByOne)
    #expect(recorder.values.count == 100_000)
    #expect(recorder.completion == .finished)
  }
}
