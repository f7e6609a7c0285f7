import FeedStream
import FeedStreamTesting
import TestSupport
import Testing

@Suite(.settled) struct PairwiseTests {
  @Test func `pairwise requests another value for the first one, which has no predecessor`() {
    let recorder = [1, 2, 3].publisher.eraseToAnyPublisher().pairwise().map { "\($0)\($1)" }
      .record(demand: .max(1))
    #expect(recorder.values == ["12"])
    recorder.request(.max(1))
    #expect(recorder.values == ["12", "23"])
  }

  @Test func `enumerated starts at zero for each subscription`() {
    let places = ["a", "b"].publisher.enumerated().map { "\($0.offset)\($0.element)" }
    #expect(places.record().values == ["0a", "1b"])
    #expect(places.record().values == ["0a", "1b"])
  }
}
