import FeedStream
import FeedStreamTesting
import TestSupport
import Testing

@Suite(.settled) struct PrefixTests {
  @Test func `prefix finishes with its last value and cancels upstream`() {
    withVirtualTime { time in
      let source = time.hot("a-b-c-d|")
      let recorder = source.prefix(2).record(on: time)
      time.run()
      recorder.expect("a-(b|)")
      #expect(source.subscriptions[0].cancelledAt == StreamInstant(nanoseconds: 2_000_000))
    }
  }

  @Test func `prefix(0) finishes without a request`() {
    withVirtualTime { time in
      let source = time.cold("a|")
      source.prefix(0).record(on: time, demand: .none).expect("|")
      #expect(source.subscriptions.allSatisfy { $0.requests.isEmpty })
    }
  }

  @Test func `prefix(0) and output(in:) with an empty range take nothing when values are requested`() {
    var taken = 0
    let source = [1, 2, 3, 4].publisher
      .handleEvents(receiveOutput: { _ in taken += 1 }, receiveRequest: { _ in taken += 1 })
    for stream in [source.prefix(0), source.output(in: 3..<3)] {
      let recorder = stream.record()
      #expect(recorder.values.isEmpty)
      #expect(recorder.completion == .finished)
    }
    #expect(taken == 0)
  }
}
