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

  @Test func `an instant can be advanced by a fraction of a second, and by a Duration`() {
    let (start, second) = (StreamInstant(nanoseconds: 0), 0.5)
    let duration: Duration = .milliseconds(50)
    #expect(start.advanced(by: .seconds(0.05)).nanoseconds == 50_000_000)
    #expect(start.advanced(by: .seconds(second)).nanoseconds == 500_000_000)
    #expect(start.advanced(by: .seconds(2)).nanoseconds == 2_000_000_000)
    #expect(start.advanced(by: duration).nanoseconds == 50_000_000)
  }

  @Test func `the distance between the first and the last instant is forever, not negative`() {
    let (first, last) = (StreamInstant(nanoseconds: .min), StreamInstant(nanoseconds: .max))
    #expect(first.distance(to: last) == forever)
    #expect(last.distance(to: first).nanoseconds == .min)
    #expect(first.duration(to: last) == forever.duration)
  }
}
