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

  @Test func `what delivers no value is merged with what does`() {
    withVirtualTime { time in
      let recorder = time.cold("ab---|").ignoreOutput().setOutputType(to: String.self)
        .merge(with: time.cold("x-y|")).record(on: time)
      time.run()
      recorder.expect("x-y--|")
    }
  }
}
