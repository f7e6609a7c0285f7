import FeedStream
import FeedStreamTesting
import TestSupport
import Testing

@Suite(.settled) struct CombineLatestAllTests {
  @Test func `combineLatest takes any number of publishers of different types`() {
    let latest = combineLatest([1, 2].publisher, Just("a"), Just(0)).record()
    #expect(latest.values.map(\.0) == [2])
    #expect(latest.values.map(\.1) == ["a"])
  }
}
