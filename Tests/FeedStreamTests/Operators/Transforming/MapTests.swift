import FeedStream
import FeedStreamTesting
import TestSupport
import Testing

@Suite(.settled) struct MapTests {
  @Test func `map delivers what its closure returns, and every completion`() {
    withVirtualTime { time in
      let recorder = time.hot("a-b#").map { $0.uppercased() }.record(on: time)
      time.run()
      recorder.expect("A-B#")
    }
  }

  @Test func `tryMap fails with the error that its closure throws, and cancels upstream`() {
    withVirtualTime { time in
      let source = time.hot("a-b-c|")
      let recorder = source.tryMap { value in
        if value == "b" { throw MarbleFailure() }
        return value
      }.record(on: time)
      time.run()
      recorder.expect("a-#")
      #expect(source.subscriptions[0].cancelledAt == StreamInstant(nanoseconds: 2_000_000))
    }
  }
}
