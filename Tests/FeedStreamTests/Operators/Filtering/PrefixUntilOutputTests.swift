import FeedStream
import FeedStreamTesting
import TestSupport
import Testing

@Suite(.settled) struct PrefixUntilOutputTests {
  @Test func `prefix(untilOutputFrom:) finishes with the trigger's first value`() {
    withVirtualTime { time in
      let recorder = time.hot("abcd|").prefix(untilOutputFrom: time.hot("--x|")).record(on: time)
      time.run()
      recorder.expect("ab(c|)")
    }
  }

  @Test func `a trigger that fires before upstream subscribes delivers a subscription, then the completion`() {
    let recorder = [1].publisher.eraseToAnyPublisher().prefix(untilOutputFrom: Just(0)).record()
    #expect(recorder.subscribedAt != nil)
    recorder.expect("|")
  }
}
