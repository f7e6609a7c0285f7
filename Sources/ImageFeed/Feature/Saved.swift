public import Foundation

/// A saved value and the moment it speaks of.
public struct Saved<Value> {
  public let value: Value
  /// The moment the value was asked for, by the wall clock.
  ///
  /// It is both what the value's age is counted from and what decides which of two responses is the newer: stamp a value
  /// when its request is *sent*, and a slow response that arrives after a later request's cannot pass for the newer one.
  public let timestamp: Date
  /// What the server can tell by whether the value has changed since; empty when it gave nothing.
  public let validators: FeedValidators

  /// Pairs a value with its moment.
  public init(_ value: Value, timestamp: Date, validators: FeedValidators = FeedValidators()) {
    self.value = value
    self.timestamp = timestamp
    self.validators = validators
  }
}

extension Saved: Sendable where Value: Sendable {}
extension Saved: Equatable where Value: Equatable {}
extension Saved: Hashable where Value: Hashable {}
