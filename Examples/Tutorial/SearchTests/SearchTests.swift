import FeedStream
import FeedStreamTesting
import Search
import Testing

@Test func `a search waits until typing pauses`() {
  withVirtualTime { time in
    let typing = time.hot("s 50ms e 50ms a 500ms |", values: ["s": "s", "e": "se", "a": "sea"])
    expectMarbles(typing.searches(on: time), on: time, "300ms S 300ms |", values: ["S": "searching for sea"])
  }
}
