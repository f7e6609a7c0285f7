import FeedStream
import FeedStreamTesting
import TestSupport
import Testing

@Suite(.settled) struct DelayTests {
  @Test func `delay shifts values and the completion by the interval`() {
    withVirtualTime { time in
      let recorder = time.hot("-a-b-c|").delay(for: .milliseconds(3), scheduler: time).record(on: time)
      time.run()
      recorder.expect("----a-b-c|")
    }
  }

  @Test func `delay delivers a failure after the values before it`() {
    withVirtualTime { time in
      let recorder = time.hot("-ab#").delay(for: .milliseconds(2), scheduler: time).record(on: time)
      time.run()
      recorder.expect("---ab#")
    }
  }

  @Test func `cancelling during a value drops the values scheduled after it`() {
    withVirtualTime { time in
      let subject = PassthroughSubject<Character, MarbleFailure>()
      let recorder = subject.delay(for: .milliseconds(1), scheduler: time).record(on: time)
      recorder.onValue = { _ in recorder.cancel() }
      for value in "abc" { subject.send(value) }
      time.run()
      recorder.expect("-a")
    }
  }

  @Test func `values dropped by cancellation are released immediately`() {
    withVirtualTime { time in
      final class Value {}
      let subject = PassthroughSubject<Value, Boom>()
      let recorder = subject.delay(for: .milliseconds(5), scheduler: time).record(on: time)
      weak var sent: Value?
      do {
        let value = Value()
        sent = value
        subject.send(value)
      }
      #expect(sent != nil)
      recorder.cancel()
      #expect(sent == nil)
      #expect(time.pending.isEmpty)
    }
  }

  @Test func `a cancelled delay releases its subscriber and cancels its scheduled work`() {
    withVirtualTime { time in
      let subject = PassthroughSubject<Int, Boom>()
      weak var subscriber: Recorder<Int, Boom>?
      do {
        let recorder = subject.delay(for: .seconds(3600), scheduler: time).record(on: time)
        subscriber = recorder
        subject.send(1)
        subject.send(completion: .finished)
        #expect(time.pending.count == 2)
        recorder.cancel()
      }
      #expect(subscriber == nil)
      #expect(time.pending.isEmpty)
    }
  }

  @Test(.timeLimit(.minutes(5))) func `a loop doesn't wait for a cancelled delay`() {
    let loop = EventLoop()
    Just(1).append(Empty(completeImmediately: false)).delay(for: .seconds(3600), scheduler: loop).sink { _ in }.cancel()
    loop.run()
    loop.close()
  }
}
