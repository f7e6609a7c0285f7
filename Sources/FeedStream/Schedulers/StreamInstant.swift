/// An instant of a stream's time: nanoseconds on a monotonic clock with an arbitrary start.
///
/// ``EventLoop`` and the virtual time scheduler in `FeedStreamTesting` share this type, so that code for one runs on
/// the other unchanged.
@frozen public struct StreamInstant: Strideable, Hashable, Sendable, Codable, InstantProtocol {
  /// Nanoseconds since the clock's start.
  public var nanoseconds: Int64

  @inlinable public init(nanoseconds: Int64) { self.nanoseconds = nanoseconds }

  /// The time from this instant to `other`; saturates.
  @inlinable public func distance(to other: StreamInstant) -> Stride {
    Stride(nanoseconds: other.nanoseconds) - Stride(nanoseconds: nanoseconds)
  }

  /// The instant that is `n` later; saturates, so that a very long wait never ends.
  @inlinable public func advanced(by n: Stride) -> StreamInstant {
    let (sum, overflow) = nanoseconds.addingReportingOverflow(n.nanoseconds)
    return StreamInstant(nanoseconds: overflow ? (n.nanoseconds < 0 ? .min : .max) : sum)
  }

  @inlinable public static func < (lhs: StreamInstant, rhs: StreamInstant) -> Bool { lhs.nanoseconds < rhs.nanoseconds }

  // The requirements of `InstantProtocol`, for Swift's clocks.

  // Disfavored, because `Stride` and `Duration` both have `seconds(_: Double)`.
  @_disfavoredOverload @inlinable public func advanced(by duration: Duration) -> StreamInstant {
    advanced(by: Stride(duration))
  }
  @inlinable public func duration(to other: StreamInstant) -> Duration { distance(to: other).duration }
}

extension StreamInstant {
  /// A length of stream time. An integer or floating-point literal means seconds. Sums and differences saturate at 292
  /// years.
  @frozen
  public struct Stride: SchedulerTimeIntervalConvertible, Comparable, Hashable, Sendable, Codable, SignedNumeric {
    /// The length in nanoseconds.
    public var nanoseconds: Int64

    @inlinable public init(nanoseconds: Int64) { self.nanoseconds = nanoseconds }

    /// Converts `duration` to a length of stream time, to the nanosecond; saturates beyond 292 years.
    @inlinable public init(_ duration: Duration) { nanoseconds = duration.wholeNanoseconds }

    /// The length as a Swift `Duration`.
    @inlinable public var duration: Duration { .nanoseconds(nanoseconds) }

    /// The length in seconds.
    @inlinable public var seconds: Double { Double(nanoseconds) / 1e9 }

    @inlinable public static func seconds(_ s: Int) -> Stride { scaled(s, by: 1_000_000_000) }
    @inlinable public static func milliseconds(_ ms: Int) -> Stride { scaled(ms, by: 1_000_000) }
    @inlinable public static func microseconds(_ us: Int) -> Stride { scaled(us, by: 1_000) }
    @inlinable public static func nanoseconds(_ ns: Int) -> Stride { Stride(nanoseconds: Int64(ns)) }
    @inlinable public static func seconds(_ s: Double) -> Stride {
      let nanoseconds = (s * 1e9).rounded()
      return Stride(nanoseconds: Int64(exactly: nanoseconds) ?? (nanoseconds < 0 ? .min : .max))
    }

    @inlinable static func scaled(_ value: Int, by factor: Int64) -> Stride {
      let (product, overflow) = Int64(value).multipliedReportingOverflow(by: factor)
      return Stride(nanoseconds: overflow ? (value < 0 ? .min : .max) : product)
    }
  }
}

// `Strideable` requires a signed number; as everywhere in Combine, a bare number is a number of seconds.
extension StreamInstant.Stride: ExpressibleByFloatLiteral {
  @inlinable public init(floatLiteral value: Double) { self = .seconds(value) }
  @inlinable public init(integerLiteral value: Int) { self = .seconds(value) }
  @inlinable public init?<T: BinaryInteger>(exactly source: T) {
    guard let seconds = Int(exactly: source) else { return nil }
    self = .seconds(seconds)
  }
  /// The number of nanoseconds, without the sign.
  @inlinable public var magnitude: Int { Int(clamping: nanoseconds.magnitude) }

  @inlinable public static func < (lhs: Self, rhs: Self) -> Bool { lhs.nanoseconds < rhs.nanoseconds }
  @inlinable public static func + (lhs: Self, rhs: Self) -> Self {
    let (sum, overflow) = lhs.nanoseconds.addingReportingOverflow(rhs.nanoseconds)
    return Self(nanoseconds: overflow ? (rhs.nanoseconds < 0 ? .min : .max) : sum)
  }
  @inlinable public static func - (lhs: Self, rhs: Self) -> Self {
    let (difference, overflow) = lhs.nanoseconds.subtractingReportingOverflow(rhs.nanoseconds)
    return Self(nanoseconds: overflow ? (rhs.nanoseconds < 0 ? .max : .min) : difference)
  }
  @inlinable public static func * (lhs: Self, rhs: Self) -> Self { .seconds(lhs.seconds * rhs.seconds) }
  @inlinable public static func *= (lhs: inout Self, rhs: Self) { lhs = lhs * rhs }
}

extension StreamInstant.Stride: CustomStringConvertible {
  public var description: String { duration.description }
}
