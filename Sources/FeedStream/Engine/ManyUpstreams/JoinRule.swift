/// The rule that decides which values of several upstreams belong together.
@usableFromInline enum JoinRule {
  /// The values at the same index: a value waits for its partners, as in `zip`.
  case pairing
  /// The latest value of each upstream, whenever one of these values changes, as in `combineLatest`.
  case latest

  @inlinable var name: StaticString { self == .pairing ? "Zip" : "CombineLatest" }
}

/// The values that a stage of two upstreams keeps, and the rule that combines them: ``Pairing`` or ``Latest``.
///
/// A rule is a plain value: it decides what to deliver, and the stage that holds it delivers. Stages are generic over
/// the rule, so that calls to it are direct.
@usableFromInline protocol PairRule {
  associatedtype First
  associatedtype Second
  associatedtype Output

  static var joins: JoinRule { get }

  init()

  /// Keeps `value` and returns the value that it replaces. The caller must release that value after the delivery.
  mutating func take(first value: First) -> First?
  mutating func take(second value: Second) -> Second?
  /// True while there is a value to deliver.
  var hasNext: Bool { get }
  /// Takes the next value to deliver. Call this only while `hasNext` is true; returning an optional would slow down
  /// each value.
  mutating func next() -> Output
  /// True when no further value is possible.
  func isDone(firstEnded: Bool, secondEnded: Bool) -> Bool
  /// True when no value is possible beyond those that can be delivered now.
  func isExhausted(firstEnded: Bool, secondEnded: Bool) -> Bool
  /// The number of values kept for each upstream.
  var held: [Int] { get }
  /// Reports the kept values as dropped.
  mutating func dropRest()
}
