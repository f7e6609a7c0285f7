import FeedStream
import FeedStreamTesting
import TestSupport
import Testing

@Suite(.settled) struct MapKeyPathTests {
  @Test func `map takes one to three key paths`() {
    let words = ["to", "be"].publisher.eraseToAnyPublisher()
    #expect(words.map(\.count).record().values == [2, 2])
    let pairs = words.map(\.count, \.isEmpty).record().values
    #expect(pairs.map(\.0) == [2, 2] && pairs.map(\.1) == [false, false])
    let triples = words.map(\.count, \.first, \.last).record().values
    #expect(triples.map(\.1) == ["t", "b"] && triples.map(\.2) == ["o", "e"])
  }
}
