extension Subscribers {
  /// The number of values that a subscriber requests: a count, or ``unlimited``.
  ///
  /// Demands are additive. A sum that does not fit in an `Int` is unlimited, unlimited stays unlimited, and a
  /// difference is never below zero.
  ///
  /// ![map { $0.uppercased() }](marbles-demand.svg)
  @frozen public struct Demand: Equatable, Hashable, Sendable {
    @usableFromInline var rawValue: UInt

    @inlinable init(rawValue: UInt) { self.rawValue = Swift.min(UInt(Int.max) + 1, rawValue) }

    /// All values that the publisher has.
    @inlinable public static var unlimited: Demand { Demand(rawValue: UInt(Int.max) + 1) }

    /// No values. A subscriber may return this when it receives a value; requesting it from a subscription is an error.
    @inlinable public static var none: Demand { Demand(rawValue: 0) }

    /// At most `value` values.
    ///
    /// - Precondition: `value` is not negative.
    @inlinable public static func max(_ value: Int) -> Demand {
      precondition(value >= 0, "Demand.max(\(value)): a demand cannot be negative; use 0 or more")
      return Demand(rawValue: UInt(bitPattern: value))
    }

    /// The number of values, or `nil` when unlimited.
    @inlinable public var max: Int? { self == .unlimited ? nil : Int(rawValue) }
  }
}

// MARK: - Arithmetic

extension Subscribers.Demand {
  @inlinable public static func + (lhs: Self, rhs: Self) -> Self {
    // After this check, both are less than 2^63, so their sum fits in a UInt.
    if lhs == .unlimited || rhs == .unlimited { return .unlimited }
    return Self(rawValue: lhs.rawValue &+ rhs.rawValue)
  }

  @inlinable
  public static func + (lhs: Self, rhs: Int) -> Self { lhs.combined(with: rhs) { $0.addingReportingOverflow($1) } }

  @inlinable public static func - (lhs: Self, rhs: Self) -> Self {
    if lhs == .unlimited { return .unlimited }
    return Self(rawValue: lhs.rawValue > rhs.rawValue ? lhs.rawValue &- rhs.rawValue : 0)
  }

  @inlinable public static func - (lhs: Self, rhs: Int) -> Self {
    if lhs == .unlimited { return .unlimited }
    let (value, overflow) = Int(lhs.rawValue).subtractingReportingOverflow(rhs)
    return overflow || value < 0 ? .none : .max(value)
  }

  @inlinable public static func * (lhs: Self, rhs: Int) -> Self {
    lhs.combined(with: rhs) { $0.multipliedReportingOverflow(by: $1) }
  }

  @inlinable func combined(with other: Int, by operation: (Int, Int) -> (Int, Bool)) -> Self {
    if self == .unlimited { return .unlimited }
    let (value, overflow) = operation(Int(rawValue), other)
    return overflow ? .unlimited : .max(value)
  }

  @inlinable public static func += (lhs: inout Self, rhs: Self) { lhs = lhs + rhs }
  @inlinable public static func += (lhs: inout Self, rhs: Int) { lhs = lhs + rhs }
  @inlinable public static func -= (lhs: inout Self, rhs: Self) { lhs = lhs - rhs }
  @inlinable public static func -= (lhs: inout Self, rhs: Int) { lhs = lhs - rhs }
  @inlinable public static func *= (lhs: inout Self, rhs: Int) { lhs = lhs * rhs }
}

extension Subscribers.Demand {
  /// Subtracts one for a delivered value; zero and unlimited do not change.
  @inlinable @inline(__always) mutating func takeOne() {
    // One comparison rules out both zero, which wraps around to the largest number, and unlimited.
    if rawValue &- 1 < UInt(Int.max) { rawValue &-= 1 }
  }

  /// Subtracts one for a value that has arrived; traps if the value was not requested (`CONTRACT.md`, rule 4).
  @inlinable mutating func takeOne(for subscription: @autoclosure () -> some CustomStringConvertible) {
    precondition(
      rawValue > 0,
      "\(placed(subscription())): upstream delivered a value that was not requested; deliver at most as many values as requested"
    )
    takeOne()
  }

  /// Traps when zero values are requested from a subscription (`CONTRACT.md`, rule 3).
  @inlinable func assertPositive(_ subscription: @autoclosure () -> some CustomStringConvertible) {
    if rawValue == 0 { Self.refuseNothing("\(placed(subscription()))") }
  }

  @inline(never) @usableFromInline static func refuseNothing(_ subscription: String) -> Never {
    halt(
      "\(subscription): request(.none) requests nothing; request at least one value, or do not call request",
      section: "a-request-for-nothing")
  }
}

// MARK: - Comparison

extension Subscribers.Demand: Comparable {
  @inlinable public static func < (lhs: Self, rhs: Self) -> Bool { lhs.rawValue < rhs.rawValue }
}

// Allows a count on either side of a comparison.
extension Subscribers.Demand {
  @inlinable public static func == (lhs: Self, rhs: Int) -> Bool { lhs != .unlimited && Int(lhs.rawValue) == rhs }
  @inlinable public static func == (lhs: Int, rhs: Self) -> Bool { rhs == lhs }
  @inlinable public static func != (lhs: Self, rhs: Int) -> Bool { !(lhs == rhs) }
  @inlinable public static func != (lhs: Int, rhs: Self) -> Bool { !(rhs == lhs) }
  @inlinable public static func < (lhs: Self, rhs: Int) -> Bool { lhs != .unlimited && Int(lhs.rawValue) < rhs }
  @inlinable public static func < (lhs: Int, rhs: Self) -> Bool { rhs == .unlimited || lhs < Int(rhs.rawValue) }
  @inlinable public static func > (lhs: Self, rhs: Int) -> Bool { rhs < lhs }
  @inlinable public static func > (lhs: Int, rhs: Self) -> Bool { rhs < lhs }
  @inlinable public static func <= (lhs: Self, rhs: Int) -> Bool { !(rhs < lhs) }
  @inlinable public static func <= (lhs: Int, rhs: Self) -> Bool { !(rhs < lhs) }
  @inlinable public static func >= (lhs: Self, rhs: Int) -> Bool { !(lhs < rhs) }
  @inlinable public static func >= (lhs: Int, rhs: Self) -> Bool { !(lhs < rhs) }
}

// MARK: - Text and coding

extension Subscribers.Demand: CustomStringConvertible {
  public var description: String { max.map { "max(\($0))" } ?? "unlimited" }
}

extension Subscribers.Demand: Codable {
  /// Decodes a count; a number above `Int.max` decodes as unlimited, which is encoded as `Int.max + 1`.
  public init(from decoder: any Decoder) throws {
    self.init(rawValue: try decoder.singleValueContainer().decode(UInt.self))
  }

  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(rawValue)
  }
}
