import FeedStream
import FeedStreamTesting
import TestSupport
import Testing

@Suite(.settled) struct MapErrorTests {
  private enum Other: Error, Equatable { case made(from: MarbleFailure) }

  @Test func `mapError transforms the failure`() {
    withVirtualTime { time in
      let recorder = time.cold("a#").mapError(Other.made).record(on: time)
      time.advance(by: .milliseconds(2))
      recorder.expect("a#", failure: .made(from: MarbleFailure()))
    }
  }

  @Test func `eraseFailureType lets streams with different failure types be combined`() {
    withVirtualTime { time in
      let outer = time.cold("a-|").eraseFailureType()
      let recorder = outer.flatMap { _ in
        time.cold("b#").mapError(Other.made).eraseFailureType()
      }
      .mapError { $0 as? Other ?? .made(from: MarbleFailure()) }.record(on: time)
      time.run()
      recorder.expect("b#", failure: .made(from: MarbleFailure()))
    }
  }
}
