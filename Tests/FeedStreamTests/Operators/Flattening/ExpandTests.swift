import FeedStream
import FeedStreamTesting
import TestSupport
import Testing

@Suite(.settled) struct ExpandTests {
  @Test func `expand delivers a tree level by level`() {
    let recorder = Just(1).expand { ($0 < 4 ? [$0 * 2, $0 * 2 + 1] : []).publisher }.record()
    #expect(recorder.values == [1, 2, 3, 4, 5, 6, 7])
    #expect(recorder.completion == .finished)
  }

  @Test func `expand delivers no more than was requested`() {
    let recorder = Just(1).expand { Just($0 + 1) }.record(demand: .max(3))
    #expect(recorder.values == [1, 2, 3])
    recorder.request(.max(2))
    #expect(recorder.values == [1, 2, 3, 4, 5])
    recorder.cancel()
  }

  @Test func `expand mixes publishers that can and can't fail`() {
    let failing = Just(1).setFailureType(to: Boom.self)
    #expect(
      failing.expand { $0 < 3 ? Just($0 + 1).eraseToAnyPublisher() : Empty().eraseToAnyPublisher() }
        .record().values == [1, 2, 3])
    #expect(Just(1).expand { _ in Fail<Int, Boom>(error: Boom()) }.record().failure == Boom())
  }
}
