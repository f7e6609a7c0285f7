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
}
