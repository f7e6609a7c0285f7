import FeedStream
import FeedStreamTesting
import TestSupport
import Testing

@Suite(.settled) struct CombineLatestAllTests {
  @Test func `combineLatest takes any number of publishers of different types`() {
    let latest = combineLatest([1, 2].publisher, Just("a"), Just(0), Just(3), Just(4)).record()
    #expect(latest.values.map(\.0) == [2])
    #expect(latest.values.map(\.1) == ["a"])
    #expect(latest.values.map(\.4) == [4])
  }

  @Test func `combineLatest of two to four publishers keeps their types`() {
    let two: Publishers.CombineLatest<Just<Int>, Just<String>> = combineLatest(Just(1), Just("a"))
    #expect(two.record().values[0] == (1, "a"))
    let three: Publishers.CombineLatest3<Just<Int>, Just<Int>, Just<Int>> = combineLatest(Just(1), Just(2), Just(3))
    #expect(three.record().values[0] == (1, 2, 3))
    #expect(combineLatest(Just(1), Just(2), Just(3), Just(4)).record().values[0] == (1, 2, 3, 4))
  }
}
