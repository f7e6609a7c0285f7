import FeedStream
import FeedStreamTesting
import TestSupport
import Testing

@Suite(.settled) struct MapAsyncStrayTests {
  @Test func `mapAsync ignores values after the completion`() {
    withVirtualTime { time in
      let late = MisbehavingPublisher<Int, Never>(.emitsAfterEnding, values: [1, 2], on: time)
      var recorder: Recorder<Int, Never>?
      // Subscribe where a loop runs, because the tasks run there.
      time.schedule { recorder = late.mapAsync(limit: 2) { $0 * 10 }.record(on: time) }
      time.run()
      #expect(recorder?.values == [10, 20])
      #expect(recorder?.completion == .finished)
    }
  }

  @Test func `mapAsync ignores a second completion`() {
    withVirtualTime { time in
      let twice = MisbehavingPublisher<Int, Boom>(.completesTwice, values: [1], on: time)
      var recorder: Recorder<Int, Boom>?
      time.schedule { recorder = twice.mapAsync(limit: 2) { $0 * 10 }.record(on: time) }
      time.run()
      #expect(recorder?.values == [10])
      #expect(recorder?.completion == .finished)
    }
  }
}
