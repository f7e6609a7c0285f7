import FeedStream
import FeedStreamTesting
import TestSupport
import Testing

@Suite(.settled) struct DistinctTests {
  @Test func `a value comes through once`() {
    withVirtualTime { time in
      let recorder = time.hot("-abacb#").distinct().record(on: time)
      time.run()
      recorder.expect("-ab-c-#")
    }
  }

  @Test func `a value that is left out is requested again`() {
    let recorder = [1, 1, 1, 2, 1, 3].publisher.distinct().record(demand: .max(2))
    #expect(recorder.values == [1, 2])
    recorder.request(.max(1))
    #expect(recorder.values == [1, 2, 3])
    #expect(recorder.completion == .finished)
  }

  @Test func `a key decides what is the same`() {
    let recorder = ["one", "two", "three", "four"].publisher.distinct(by: \.count).record()
    #expect(recorder.values == ["one", "three", "four"])
  }

  @Test func `every subscription remembers for itself`() {
    let publisher = [1, 1].publisher.distinct()
    #expect(publisher.record().values == [1])
    #expect(publisher.record().values == [1])
  }
}
