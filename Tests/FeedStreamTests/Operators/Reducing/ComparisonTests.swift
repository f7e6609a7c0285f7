import FeedStream
import FeedStreamTesting
import TestSupport
import Testing

@Suite(.settled) struct ComparisonTests {
  @Test func `min and max deliver the smallest and the largest value`() {
    let numbers = (1...5).map { $0 }.publisher.eraseToAnyPublisher()
    #expect(numbers.min().record().values == [1])
    #expect(numbers.max().record().values == [5])
    #expect(numbers.min { $0 % 3 < $1 % 3 }.record().values == [3])
    #expect(numbers.tryMax { $0 % 3 < $1 % 3 }.record().values == [2])
  }
}
