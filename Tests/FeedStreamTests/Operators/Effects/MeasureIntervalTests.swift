import FeedStream
import FeedStreamTesting
import TestSupport
import Testing

@Suite(.settled) struct MeasureIntervalTests {
  @Test func `measureInterval measures from the subscription to the first value, then between values`() {
    withVirtualTime { time in
      let recorder = time.hot("--a---b|").measureInterval(using: time).record(on: time)
      time.advance(by: .milliseconds(8))
      #expect(recorder.values == [.milliseconds(2), .milliseconds(4)])
    }
  }

  @Test func `a million values pulled one by one keep the stack flat`() {
    let intervals = (0..<1_000_000).publisher.measureInterval(using: VirtualTimeScheduler())
    #expect(intervals.pulled(.answering) == 1_000_000)
  }
}
