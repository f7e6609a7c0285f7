import FeedStream
import FeedStreamTesting
import TestSupport
import Testing

@Suite(.settled) struct ThrottleTests {
  @Test func `throttle delivers the latest of each interval`() {
    withVirtualTime { time in
      let recorder = time.hot("-ab-cd-------e--|").throttle(for: .milliseconds(4), scheduler: time, latest: true)
        .record(on: time)
      time.run()
      recorder.expect("-a---d-------e--|")
    }
  }

  @Test func `throttle delivers the first of each interval`() {
    withVirtualTime { time in
      let recorder = time.hot("-ab-cd-------e--|").throttle(for: .milliseconds(4), scheduler: time, latest: false)
        .record(on: time)
      time.run()
      recorder.expect("-a---b-------e--|")
    }
  }

  @Test func `throttle keeps the latest even when no more is requested`() {
    withVirtualTime { time in
      let subject = PassthroughSubject<Character, MarbleFailure>()
      let recorder = subject.throttle(for: .milliseconds(4), scheduler: time, latest: true).record(
        on: time, demand: .max(1))
      for value in "abc" { subject.send(value) }
      time.advance(by: .milliseconds(1))
      recorder.expect("c")
      recorder.cancel()
    }
  }

  @Test func `throttle delivers what waits, then the completion`() {
    withVirtualTime { time in
      let recorder = time.hot("abc|").throttle(for: .milliseconds(4), scheduler: time, latest: true).record(on: time)
      time.run()
      recorder.expect("a---(c|)")
    }
  }

  @Test func `a cancelled throttle takes its work back`() {
    withVirtualTime { time in
      let subject = PassthroughSubject<Int, Boom>()
      let recorder = subject.throttle(for: .seconds(3600), scheduler: time, latest: true).record(on: time)
      subject.send(1)
      time.advance(by: .milliseconds(1))
      subject.send(2)
      #expect(recorder.values == [1])
      #expect(time.pending.count == 1)
      recorder.cancel()
      #expect(time.pending.isEmpty)
    }
  }
}
