import FeedStream
import FeedStreamTesting
import TestSupport
import Testing

@Suite(.settled) struct DelaySubscriptionTests {
  @Test func `delaySubscription subscribes later, with the demand requested meanwhile`() {
    withVirtualTime { time in
      let recorder = time.cold("-a-b-|").delaySubscription(for: .milliseconds(3), scheduler: time).record(
        on: time, demand: .max(1))
      recorder.request(.max(1))
      time.run()
      recorder.expect("----a-b-|")
    }
  }

  @Test func `delaySubscription doesn't subscribe after cancellation`() {
    withVirtualTime { time in
      var subscriptions = 0
      let upstream = Deferred {
        subscriptions += 1
        return Just(1)
      }
      let recorder = upstream.delaySubscription(for: .milliseconds(3), scheduler: time).record(on: time)
      time.advance(by: .milliseconds(2))
      recorder.cancel()
      time.run()
      #expect(subscriptions == 0)
    }
  }
}
