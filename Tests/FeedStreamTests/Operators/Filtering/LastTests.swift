import FeedStream
import FeedStreamTesting
import TestSupport
import Testing

@Suite(.settled) struct LastTests {
  @Test func `last delivers the last value, or the last that matches`() {
    let numbers = (1...5).map { $0 }.publisher.eraseToAnyPublisher()
    #expect(numbers.last().record().values == [5])
    #expect(numbers.last { $0 < 4 }.record().values == [3])
    #expect(numbers.tryLast { $0 < 4 }.record().values == [3])
  }
}
