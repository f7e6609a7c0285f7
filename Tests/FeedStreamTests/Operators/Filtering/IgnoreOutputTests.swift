import FeedStream
import FeedStreamTesting
import TestSupport
import Testing

@Suite(.settled) struct IgnoreOutputTests {
  @Test func `ignoreOutput delivers only the completion`() {
    withVirtualTime { time in
      let recorder = time.cold("ab#").ignoreOutput().record(on: time, demand: .none)
      time.run()
      recorder.expect("--#")
    }
  }

  @Test func `after ignoreOutput and setOutputType, a stream can be merged with one of values`() {
    withVirtualTime { time in
      let recorder = time.cold("ab---|").ignoreOutput().setOutputType(to: String.self)
        .merge(with: time.cold("x-y|")).record(on: time)
      time.run()
      recorder.expect("x-y--|")
    }
  }
}
