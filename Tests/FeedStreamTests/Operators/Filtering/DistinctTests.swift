import FeedStream
import FeedStreamTesting
import TestSupport
import Testing

@Suite(.settled) struct DistinctTests {
  @Test func `distinct delivers each value once`() {
    withVirtualTime { time in
      let recorder = time.hot("-abacb#").distinct().record(on: time)
      time.run()
      recorder.expect("-ab-c-#")
    }
  }

  @Test func `distinct requests another value for each one that it drops`() {
    let recorder = [1, 1, 1, 2, 1, 3].publisher.distinct().record(demand: .max(2))
    #expect(recorder.values == [1, 2])
    recorder.request(.max(1))
    #expect(recorder.values == [1, 2, 3])
    #expect(recorder.completion == .finished)
  }

  @Test func `distinct(by:) compares keys`() {
    let recorder = ["one", "two", "three", "four"].publisher.distinct(by: \.count).record()
    #expect(recorder.values == ["one", "three", "four"])
  }

  @Test func `distinct remembers values per subscription`() {
    let publisher = [1, 1].publisher.distinct()
    #expect(publisher.record().values == [1])
    #expect(publisher.record().values == [1])
  }
}
