import FeedStream
import TestSupport
import Testing

@Suite(.settled) struct StreamInstantTests {
  private typealias Stride = StreamInstant.Stride
  private let forever = Stride(nanoseconds: .max)

  @Test func `durations too long to represent are forever`() {
    #expect(forever + 1 == forever)
    #expect(Stride(nanoseconds: .min) - 1 == Stride(nanoseconds: .min))
    #expect(Stride(nanoseconds: .min).magnitude == .max)
    #expect(Stride.milliseconds(-2).magnitude == 2_000_000)
    #expect(Stride.seconds(.max) + .seconds(.max) == forever)
    #expect(forever - forever == 0)
  }

  @Test func `the distance between the first and the last instant is forever, not negative`() {
    let (first, last) = (StreamInstant(nanoseconds: .min), StreamInstant(nanoseconds: .max))
    #expect(first.distance(to: last) == forever)
    #expect(last.distance(to: first).nanoseconds == .min)
    #expect(first.duration(to: last) == forever.duration)
  }
}
