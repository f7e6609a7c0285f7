import FeedStream
import FeedStreamTesting
import TestSupport
import Testing

@Suite(.settled) struct PrefixTests {
  @Test func `prefix finishes with its last value and cancels upstream`() {
    withVirtualTime { time in
      let source = time.hot("a-b-c-d|")
      let recorder = source.prefix(2).record(on: time)
      time.run()
      recorder.expect("a-(b|)")
      #expect(source.subscriptions[0].cancelledAt == StreamInstant(nanoseconds: 2_000_000))
    }
  }

  @Test func `prefix(0) finishes without a request`() {
    withVirtualTime { time in
      let source = time.cold("a|")
      source.prefix(0).record(on: time, demand: .none).expect("|")
      #expect(source.subscriptions.allSatisfy { $0.requests.isEmpty })
    }
  }
}
