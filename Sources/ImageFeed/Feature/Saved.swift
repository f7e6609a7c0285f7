public import Foundation

/// A saved value and its timestamp.
public struct Saved<Value> {
  public let value: Value
  /// The time at which the value was requested, by the wall clock.
  ///
  /// The value's age counts from this time, which also decides which of two responses is newer. Set it when the value's
  /// request is *sent*, so that a slow response isn't mistaken for a newer one.
  public let timestamp: Date
  /// The validators by which the server can tell whether the value has changed; empty if it sent none.
  public let validators: FeedValidators

  /// Creates a saved value with its timestamp.
  public init(_ value: Value, timestamp: Date, validators: FeedValidators = FeedValidators()) {
    self.value = value
    self.timestamp = timestamp
    self.validators = validators
  }
}

extension Saved: Sendable where Value: Sendable {}
extension Saved: Equatable where Value: Equatable {}
extension Saved: Hashable where Value: Hashable {}
