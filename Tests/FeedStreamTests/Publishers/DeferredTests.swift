import FeedStream
import FeedStreamTesting
import TestSupport
import Testing

@Suite(.settled) struct DeferredTests {
  @Test func `Deferred creates a publisher for each subscriber`() {
    var made = 0
    let publisher = Deferred {
      made += 1
      return Just(made)
    }
    #expect(made == 0)
    #expect(publisher.record().values == [1])
    #expect(publisher.record().values == [2])
  }
}
