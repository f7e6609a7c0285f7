import FeedStream
import FeedStreamTesting
import TestSupport
import Testing

@Suite(.settled) struct ZipTests {
  @Test func `a zip pairs the values of two streams by their place, and ends when no pair can follow`() {
    withVirtualTime { time in
      let recorder = time.hot("ab-c-|").zip(time.hot("-1-23|")) { $0 + $1 }.record(on: time)
      time.run()
      recorder.expect("-x-yz|", values: ["x": "a1", "y": "b2", "z": "c3"])
    }
  }
}
