import FeedStream
import FeedStreamTesting
import TestSupport
import Testing

/// One search, tested in four ways. In each, "s" is typed, then "sea" after a pause, before the answer to "s" is there.
@Suite(.settled) struct SearchTests {
  /// Marbles: when the whole story fits in a line.
  @Test func `an answer to an older text is not shown`() {
    withVirtualTime { time in
      let typing = time.cold("s 400ms a 2s |", values: ["s": "s", "a": "sea"])
      expectMarbles(
        typing.search(on: time), on: time, "800ms A 1600ms |", values: ["S": "answer to s", "A": "answer to sea"])
    }
  }

  /// The step verifier: when the test acts and looks in turn.
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

  /// The recorder: when the test is about demand, cancellation, or what upstream was told.
  @Test func `leaving the screen stops the search`() {
    withVirtualTime { time in
      let typing = time.hot("s 400ms a", values: ["s": "s", "a": "sea"])
      let recorder = typing.search(on: time).record(on: time)
      time.advance(by: .milliseconds(450))
      recorder.cancel()
      time.advance(by: 2)
      #expect(recorder.values == [])
      #expect(typing.subscriptions.map(\.isLive) == [false], "the text field is let go: \(typing.subscriptions)")
    }
  }

  /// The kit: when the operator is for others, who will ask for values one by one, cancel anywhere, and more.
  @Test func `a search keeps the rules of a stream`() {
    // debounce gives its ending to the scheduler, which cannot take it back.
    StreamRules.verify("searchResults", traits: [.dependsOnDemand, .leavesWork]) { upstream, time in
      upstream.search(on: time)
    }
  }
}
