import FeedStream
import FeedStreamTesting
import TestSupport
import Testing

@Suite(.settled) struct FlatMapFirstTests {
  @Test func `flatMapFirst drops values that arrive while an inner publisher runs`() {
    withVirtualTime { time in
      let source = time.hot("-ab---c--|")
      let recorder = source.flatMapFirst { time.cold("-\($0)-\($0)|") }.record(on: time)
      time.run()
      recorder.expect("--a-a--c-c|")
    }
  }

  @Test func `flatMapFirst finishes when both upstream and the inner publisher have`() {
    withVirtualTime { time in
      let source = time.hot("a-|")
      let recorder = source.flatMapFirst { time.cold("----\($0)|") }.record(on: time)
      time.advance(by: .milliseconds(4))
      #expect(recorder.completion == nil)
      time.advance(by: .milliseconds(2))
      #expect(recorder.completion == .finished)
    }
  }
}
