import FeedStream
import FeedStreamTesting
import TestSupport
import Testing

@Suite(.settled) struct ContainsTests {
  @Test func `contains delivers whether any value matches`() {
    let numbers = (1...5).map { $0 }.publisher.eraseToAnyPublisher()
    #expect(numbers.contains(3).record().values == [true])
    #expect(numbers.contains { $0 > 5 }.record().values == [false])
    #expect(numbers.tryContains { $0 > 4 }.record().values == [true])
  }
}
