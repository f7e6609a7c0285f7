import FeedStream
import FeedStreamTesting
import TestSupport
import Testing

@Suite(.settled) struct PrefixForTests {
  @Test func `prefix(for:) finishes when the time has passed`() {
    withVirtualTime { time in
      var cancelled = false
      let recorder = time.hot("-a-b-c-d-|").handleEvents(receiveCancel: { cancelled = true })
        .prefix(for: .milliseconds(4), scheduler: time).record(on: time)
      time.run()
      recorder.expect("-a-b|")
      #expect(cancelled)
    }
  }

  @Test func `prefix(for:) passes an earlier completion`() {
    withVirtualTime { time in
      let recorder = time.hot("-a#").prefix(for: .milliseconds(4), scheduler: time).record(on: time)
      time.run()
      recorder.expect("-a#")
    }
  }
}
