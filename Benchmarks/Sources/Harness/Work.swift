/// The closures that every contender calls.
///
/// They are variables of a class in a separate module, so that the optimizer can't inline them: the rest of the time is
/// the library's.
public final class Work: @unchecked Sendable {
  // Sendable: set once, here, and only read afterwards.
  public var triple: (Int) -> Int = { $0 &* 3 }
  public var increment: (Int) -> Int = { $0 &+ 1 }
  public var isEven: (Int) -> Bool = { $0 & 1 == 0 }
  public var isAny: (Int) -> Bool = { $0 != .min }
  public var isNone: (Int) -> Bool = { $0 == .min }
  public var add: (Int, Int) -> Int = { $0 &+ $1 }
  public var same: (Int, Int) -> Bool = { $0 == $1 }
  public var less: (Int, Int) -> Bool = { $0 < $1 }
  public var some: (Int) -> Int? = { $0 & 3 == 0 ? nil : $0 }
  public var any: (Int) -> Int? = { $0 }
  public var tripleOrThrow: (Int) throws -> Int = {
    if $0 == .min { throw Refusal.refused }
    return $0 &* 3
  }
  public var note: (Int) -> Void = { _ in }

  public var pick: (Int) -> Shared = { [shared = (0..<64).map(Shared.init)] in shared[$0 & 63] }
  public var isShared: (Shared) -> Bool = { $0.value != .min }
  public var pass: (Shared) -> Shared = { $0 }
  public var unpick: (Shared) -> Int = { $0.value }

  public var widen: (Int) -> Large = { Large($0) }
  public var isLarge: (Large) -> Bool = { $0.last != .min }
  public var shift: (Large) -> Large = {
    var large = $0
    large.last &+= 1
    return large
  }
  public var narrow: (Large) -> Int = { $0.last }
}

/// The closures, one set for the process.
public let work = Work()

public enum Refusal: Error { case refused }

/// An element with a reference count.
public final class Shared: Sendable {
  public let value: Int
  public init(_ value: Int) { self.value = value }
}

/// An element of 128 bytes.
public struct Large: Sendable {
  public var first, second: (Int, Int, Int, Int)
  public var third: (Int, Int, Int, Int, Int, Int, Int)
  public var last: Int
  public init(_ value: Int) {
    first = (value, value, value, value)
    second = first
    third = (value, value, value, value, value, value, value)
    last = value
  }
}

/// The destination of the values: a sum, so that no work can be optimized away.
public final class Total {
  private final class Sum { var value = 0 }
  private let sum = Sum()
  public var value: Int { sum.value }
  public private(set) var add: (Int) -> Void = { _ in }

  public init() { add = { [sum] in sum.value &+= $0 } }
}
