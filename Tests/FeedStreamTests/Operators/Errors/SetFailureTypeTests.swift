import FeedStream
import FeedStreamTesting
import TestSupport
import Testing

@Suite(.settled) struct SetFailureTypeTests {
  @Test func `setFailureType changes only the type`() {
    let recorder = [1, 2].publisher.setFailureType(to: Boom.self).record()
    #expect(recorder.values == [1, 2])
    #expect(recorder.completion == .finished)
  }
}
