import FeedStream
import FeedStreamTesting
import TestSupport
import Testing

@Suite(.settled) struct ScanIntoTests {
  @Test func `scan(into:) delivers each result, and reduce(into:) the last`() {
    #expect([1, 2].publisher.scan(into: []) { $0.append($1) }.record().values == [[1], [1, 2]])
    #expect([1, 2].publisher.reduce(into: []) { $0.append($1) }.record().values == [[1, 2]])
    #expect(Empty<Int, Never>().reduce(into: 7) { $0 += $1 }.record().values == [7])
  }
}
