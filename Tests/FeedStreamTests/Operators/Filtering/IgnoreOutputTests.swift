import FeedStream
import FeedStreamTesting
import TestSupport
import Testing

@Suite(.settled) struct IgnoreOutputTests {
  @Test func `ignoreOutput delivers the completion alone`() {
    withVirtualTime { time in
      let recorder = time.cold("ab#").ignoreOutput().record(on: time, demand: .none)
      time.run()
      recorder.expect("--#")
    }
  }

  @Test func `a stream without values can be merged with one that has them`() {
    withVirtualTime { time in
      let recorder = time.cold("ab---|").ignoreOutput().setOutputType(to: String.self)
        .merge(with: time.cold("x-y|")).record(on: time)
      time.run()
      recorder.expect("x-y--|")
    }
  }
}
