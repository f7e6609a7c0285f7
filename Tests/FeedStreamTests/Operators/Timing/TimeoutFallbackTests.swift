import FeedStream
import FeedStreamTesting
import TestSupport
import Testing

@Suite(.settled) struct TimeoutFallbackTests {
  @Test func `timeout goes over to the fallback with the demand that is left`() {
    withVirtualTime { time in
      let recorder = time.hot("-a-------b").timeout(.milliseconds(3), scheduler: time, fallback: time.cold("xyz|"))
        .record(on: time, demand: .max(3))
      time.run()
      recorder.expect("-a--xy")
      recorder.request(.max(1))
      #expect(recorder.values == ["a", "x", "y", "z"])
      #expect(recorder.completion == .finished)
    }
  }
}
