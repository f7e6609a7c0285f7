import Synchronization

/// Identifies a subscriber or a subscription.
public struct CombineIdentifier: Hashable, Sendable, CustomStringConvertible {
  private let rawValue: UInt64

  /// Makes an identifier that is unique in this process.
  public init() {
    rawValue = CombineIdentifier.last.wrappingAdd(1, ordering: .relaxed).newValue
  }

  /// The identity of `object`, valid as long as the object exists.
  public init(_ object: AnyObject) {
    rawValue = UInt64(UInt(bitPattern: ObjectIdentifier(object)))
  }

  public var description: String { "0x" + String(rawValue, radix: 16) }

  private static let last = Atomic<UInt64>(0)
}

/// A type whose values can be distinguished by an identifier.
public protocol CustomCombineIdentifierConvertible {
  var combineIdentifier: CombineIdentifier { get }
}

extension CustomCombineIdentifierConvertible where Self: AnyObject {
  public var combineIdentifier: CombineIdentifier { CombineIdentifier(self) }
}
