import FeedStream
import FeedStreamTesting
import TestSupport
import Testing

@Suite(.settled) struct IgnoreOutputTests {
  @Test func `ignoreOutput delivers the ending alone`() {
    withVirtualTime { time in
      let recorder = time.cold("ab#").ignoreOutput().record(on: time, demand: .none)
      time.run()
      recorder.expect("--#")
    }
  }
}
