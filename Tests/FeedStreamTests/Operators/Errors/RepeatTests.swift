import FeedStream
import FeedStreamTesting
import TestSupport
import Testing

@Suite(.settled) struct RepeatTests {
  @Test func `repeat subscribes the given number of times`() {
    withVirtualTime { time in
      let recorder = time.cold("ab|").repeat(2).record(on: time)
      time.run()
      recorder.expect("abab|")
    }
  }

  @Test func `repeat with a pause never overlaps subscriptions`() {
    withVirtualTime { time in
      let recorder = time.cold("-a|").repeat(3, after: .milliseconds(2), scheduler: time).record(on: time)
      time.run()
      recorder.expect("-a---a---a|")
    }
  }

  @Test func `repeating a hundred thousand times keeps the stack flat`() {
    let recorder = Just(1).repeat(100_000).record()
    #expect(recorder.values.count == 100_000)
    #expect(recorder.completion == .finished)
  }

  @Test func `repeat stops at a failure, and without demand`() {
    withVirtualTime { time in
      let failing = time.cold("a#").repeat().record(on: time)
      let none = time.cold("a|").repeat(0).record(on: time)
      time.run()
      failing.expect("a#")
      none.expect("|")
    }
  }
}
