import FeedStream
import FeedStreamTesting
import TestSupport
import Testing

@Suite(.settled) struct ZipTests {
  @Test func `zip pairs values by position, and finishes when no pair can follow`() {
    withVirtualTime { time in
      let recorder = time.hot("ab-c-|").zip(time.hot("-1-23|")) { $0 + $1 }.record(on: time)
      time.run()
      recorder.expect("-x-yz|", values: ["x": "a1", "y": "b2", "z": "c3"])
    }
  }
}
