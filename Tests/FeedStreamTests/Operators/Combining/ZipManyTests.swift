import FeedStream
import FeedStreamTesting
import TestSupport
import Testing

@Suite(.settled) struct ZipManyTests {
  @Test func `zip of a collection combines the values at the same position`() {
    let recorder = [[1, 2, 3].publisher, [4, 5].publisher].zip().record()
    #expect(recorder.values == [[1, 4], [2, 5]])
    #expect(recorder.completion == .finished)
    #expect([Just<Int>]().zip().record().completion == .finished)
  }

  @Test func `zip of a collection delivers only what is requested`() {
    let recorder = [(0..<9).publisher, (10..<19).publisher].zip().record(demand: .max(2))
    #expect(recorder.values == [[0, 10], [1, 11]])
    recorder.request(.max(1))
    #expect(recorder.values.last == [2, 12])
  }

  @Test func `a hundred thousand values zipped one by one keep the stack flat`() {
    let numbers = (0..<100_000).publisher.eraseToAnyPublisher()
    #expect([numbers, numbers, numbers].zip().pulled(.requesting) == 100_000)
    #expect([numbers, numbers].zip().pulled(.answering) == 100_000)
  }
}
