import FeedStream
import FeedStreamTesting
import TestSupport
import Testing

@Suite(.settled) struct ThrottleTests {
  @Test func `throttle with latest delivers the latest value of each interval`() {
    withVirtualTime { time in
      let recorder = time.hot("-ab-cd-------e--|").throttle(for: .milliseconds(4), scheduler: time, latest: true)
        .record(on: time)
      time.run()
      recorder.expect("-a---d-------e--|")
    }
  }

  @Test func `throttle without latest delivers the first value of each interval`() {
    withVirtualTime { time in
      let recorder = time.hot("-ab-cd-------e--|").throttle(for: .milliseconds(4), scheduler: time, latest: false)
        .record(on: time)
      time.run()
      recorder.expect("-a---b-------e--|")
    }
  }

  @Test func `throttle holds the latest value without demand`() {
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

  @Test func `throttle delivers a waiting value, then the completion`() {
    withVirtualTime { time in
      let recorder = time.hot("abc|").throttle(for: .milliseconds(4), scheduler: time, latest: true).record(on: time)
      time.run()
      recorder.expect("a---(c|)")
    }
  }

  @Test func `throttle delivers after one interval when the scheduler's clock was set back`() {
    withVirtualTime { time in
      let clock = SettableClock(time)
      clock.offset = .seconds(3600)
      let subject = PassthroughSubject<Int, Boom>()
      let recorder = subject.throttle(for: .milliseconds(4), scheduler: clock, latest: true).record(on: time)
      subject.send(1)
      time.advance(by: .milliseconds(1))
      clock.offset = .zero
      subject.send(2)
      time.advance(by: .milliseconds(4))
      #expect(recorder.values == [1, 2])
      recorder.cancel()
    }
  }

  @Test func `a cancelled throttle cancels its scheduled work`() {
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
