import FeedStream
import FeedStreamTesting
import TestSupport
import Testing

@Suite(.settled) struct ScanTests {
  @Test func `scan starts again for each subscription`() {
    let sums = [1, 2, 3].publisher.eraseToAnyPublisher().scan(0, +)
    #expect(sums.record().values == [1, 3, 6])
    #expect(sums.record().values == [1, 3, 6])
    let tried = [1, 2, 3].publisher.eraseToAnyPublisher().tryScan(0, +)
    #expect(tried.record().values == [1, 3, 6])
    #expect(tried.record().values == [1, 3, 6])
  }
}
