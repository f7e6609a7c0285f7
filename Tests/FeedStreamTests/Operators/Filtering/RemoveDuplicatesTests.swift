import FeedStream
import FeedStreamTesting
import TestSupport
import Testing

@Suite(.settled) struct RemoveDuplicatesTests {
  @Test func `removeDuplicates leaves out what repeats the value before it`() {
    withVirtualTime { time in
      let recorder = time.hot("aab-ba|").removeDuplicates().record(on: time)
      time.run()
      recorder.expect("a-b--a|")
    }
  }

  @Test func `a value that is left out is requested again`() {
    let recorder = [1, 1, 1, 2, 2, 3].publisher.eraseToAnyPublisher().removeDuplicates().record(demand: .max(2))
    #expect(recorder.values == [1, 2])
    recorder.cancel()
  }
}
