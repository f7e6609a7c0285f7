import FeedStream
import FeedStreamTesting
import TestSupport
import Testing

@Suite(.settled) struct CollectByCountTests {
  @Test func `collect(_:) requests as many values as its arrays hold`() {
    let recorder = (1...7).map { $0 }.publisher.eraseToAnyPublisher().collect(3).record(demand: .max(2))
    #expect(recorder.values == [[1, 2, 3], [4, 5, 6]])
    recorder.request(.max(1))
    #expect(recorder.values == [[1, 2, 3], [4, 5, 6], [7]])
    #expect(recorder.completion == .finished)
  }

  @Test func `collect(0) traps`() async {
    await #expect(processExitsWith: .failure) { _ = [1].publisher.collect(0) }
  }

  @Test func `buffer(count:) collects by count`() {
    #expect([1, 2, 3].publisher.buffer(count: 2).record().values == [[1, 2], [3]])
  }
}
