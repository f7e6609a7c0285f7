import FeedStream
import FeedStreamTesting
import TestSupport
import Testing

@Suite(.settled) struct AllSatisfyTests {
  @Test func `allSatisfy delivers whether all values match`() {
    let numbers = (1...5).map { $0 }.publisher.eraseToAnyPublisher()
    #expect(numbers.allSatisfy { $0 < 3 }.record().values == [false])
    #expect(numbers.tryAllSatisfy { $0 < 6 }.record().values == [true])
  }
}
