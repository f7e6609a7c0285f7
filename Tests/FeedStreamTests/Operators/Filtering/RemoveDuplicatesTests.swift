import FeedStream
import FeedStreamTesting
import TestSupport
import Testing

@Suite(.settled) struct RemoveDuplicatesTests {
  @Test func `removeDuplicates drops values equal to the previous one`() {
    withVirtualTime { time in
      let recorder = time.hot("aab-ba|").removeDuplicates().record(on: time)
      time.run()
      recorder.expect("a-b--a|")
    }
  }

  @Test func `removeDuplicates requests another value for each one that it drops`() {
    let recorder = [1, 1, 1, 2, 2, 3].publisher.eraseToAnyPublisher().removeDuplicates().record(demand: .max(2))
    #expect(recorder.values == [1, 2])
    recorder.cancel()
  }
}
