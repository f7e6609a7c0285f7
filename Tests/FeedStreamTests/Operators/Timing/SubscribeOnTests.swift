import FeedStream
import FeedStreamTesting
import TestSupport
import Testing

@Suite(.settled) struct SubscribeOnTests {
  @Test func `subscribe(on:) subscribes and cancels on the scheduler`() {
    withVirtualTime { time in
      var log: [String] = []
      let upstream = PassthroughSubject<Character, Boom>()
        .handleEvents(
          receiveSubscription: { _ in log.append("subscribed") }, receiveCancel: { log.append("cancelled") })
      let recorder = upstream.subscribe(on: time).record(on: time)
      #expect(log == [])
      time.advance(by: .milliseconds(1))
      #expect(log == ["subscribed"])
      recorder.cancel()
      #expect(log == ["subscribed"])
      time.advance(by: .milliseconds(1))
      #expect(log == ["subscribed", "cancelled"])
    }
  }

  @Test func `a sink cancelled before its subscription arrives receives nothing`() {
    withVirtualTime { time in
      var values: [Int] = []
      let sink = Just(1).subscribe(on: time).sink { values.append($0) }
      sink.cancel()
      time.advance(by: .milliseconds(1))
      #expect(values == [])
    }
  }
}
