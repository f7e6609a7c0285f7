import FeedStream
import FeedStreamTesting
import TestSupport
import Testing

@Suite(.settled) struct RetryByPolicyTests {
  @Test func `retry(_:scheduler:) waits as long as its policy says`() {
    withVirtualTime { time in
      let recorder = time.cold("a#").retry(.exponential(from: .milliseconds(1), limit: 3), scheduler: time).record(
        on: time)
      time.run()
      recorder.expect("a-a--a----a#")
    }
  }

  @Test func `retry stops immediately at an error that its policy doesn't retry`() {
    withVirtualTime { time in
      let recorder = time.cold("a#")
        .retry(.constant(.milliseconds(1)), scheduler: time, if: { _ in false }).record(on: time)
      time.run()
      recorder.expect("a#")
    }
  }

  @Test func `each retry requests the remaining demand`() {
    withVirtualTime { time in
      let recorder = time.cold("abc#").retry(.constant(.milliseconds(1)), scheduler: time).record(
        on: time, demand: .max(4))
      time.run()
      recorder.expect("abc-a")
      recorder.cancel()
    }
  }

  @Test func `cancelling during a pause prevents the next subscription`() {
    withVirtualTime { time in
      let recorder = time.cold("#").retry(.constant(.milliseconds(5)), scheduler: time).record(on: time)
      time.advance(by: .milliseconds(2))
      recorder.cancel()
    }
  }

  @Test func `a source that fails a hundred thousand times keeps the stack flat`() {
    withVirtualTime { time in
      var attempts = 0
      let upstream = Deferred {
        attempts += 1
        return Fail<Int, Boom>(error: Boom())
      }
      let recorder = upstream.retry(.immediate(limit: 100_000), scheduler: time).record(on: time)
      #expect(attempts == 100_001)
      #expect(recorder.completion == .failure(Boom()))
    }
  }

  @Test func `every subscriber gets the same pauses from the same seed`() {
    withVirtualTime { time in
      let publisher = time.cold("#").retry(
        .constant(.milliseconds(10), jitter: 1, limit: 5), scheduler: time, using: Counting())
      let first = publisher.record(on: time)
      let second = publisher.record(on: time)
      time.run()
      #expect(first.marbles == second.marbles)
      #expect(first.completion != nil)
    }
  }
}

private struct Counting: RandomNumberGenerator {
  var count: UInt64 = 0

  mutating func next() -> UInt64 {
    count += 1
    return count &* 0x9E37_79B9_7F4A_7C15
  }
}
