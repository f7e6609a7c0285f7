import FeedStream
import FeedStreamTesting
import TestSupport
import Testing

@Suite(.settled) struct CompactMapTests {
  @Test func `compactMap drops nil results, and requests another value for each`() {
    let recorder = ["1", "x", "2", "y", "3"].publisher.eraseToAnyPublisher().compactMap { Int($0) }
      .record(demand: .max(2))
    #expect(recorder.values == [1, 2])
    recorder.request(.max(1))
    #expect(recorder.values == [1, 2, 3])
    recorder.cancel()
  }
}
