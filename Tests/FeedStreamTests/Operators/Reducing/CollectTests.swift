import FeedStream
import FeedStreamTesting
import TestSupport
import Testing

@Suite(.settled) struct CollectTests {
  @Test func `collect delivers all values as one array`() {
    let numbers = (1...5).map { $0 }.publisher.eraseToAnyPublisher()
    #expect(numbers.collect().record().values == [[1, 2, 3, 4, 5]])
  }
}
