import FeedStream
import FeedStreamTesting
import TestSupport
import Testing

/// One search, tested in four ways. In each, the user types "s", pauses, and then types "sea" before the results for
/// "s" arrive.
@Suite(.settled) struct SearchTests {
  /// Marbles: for a test that fits in a line.
  @Test func `an answer to an older text is not shown`() {
    withVirtualTime { time in
      let typing = time.cold("s 400ms a 2s |", values: ["s": "s", "a": "sea"])
      expectMarbles(
        typing.search(on: time), on: time, "800ms A 1600ms |", values: ["S": "answer to s", "A": "answer to sea"])
    }
  }

  /// The step verifier: for a test that acts and checks in turn.
  @Test func `a search waits for a pause and shows the newest answer`() {
    withVirtualTime { time in
      let typing = PassthroughSubject<String, MarbleFailure>()
      typing.search(on: time).verify(on: time)
        .then { typing.send("s") }
        .expectNoEvent(for: .milliseconds(400))
        .then { typing.send("sea") }
        .expectNext("answer to sea")
        .then { typing.send(completion: .finished) }
        .expectFinished()
        .verify()
    }
  }

  /// The recorder: for a test of demand, cancellation, or the upstream side.
  @Test func `leaving the screen stops the search`() {
    withVirtualTime { time in
      let typing = time.hot("s 400ms a", values: ["s": "s", "a": "sea"])
      let recorder = typing.search(on: time).record(on: time)
      time.advance(by: .milliseconds(450))
      recorder.cancel()
      time.advance(by: 2)
      #expect(recorder.values == [])
      #expect(typing.subscriptions.map(\.isLive) == [false], "the text field is released: \(typing.subscriptions)")
    }
  }

  /// The test kit: for an operator that other people use. Their code may request values one by one, cancel at any
  /// point, and more.
  @Test func `a search keeps the rules of a stream`() {
    StreamRules.verify("searchResults", traits: .dependsOnDemand) { upstream, time in
      upstream.search(on: time)
    }
  }
}
