/// Which values of several upstreams belong together.
@usableFromInline enum JoinRule {
  /// Those at the same place: a value waits for its partners. What `zip` does.
  case pairing
  /// The latest of each, whenever one changes. What `combineLatest` does.
  case latest

  @inlinable var name: StaticString { self == .pairing ? "Zip" : "CombineLatest" }
}

/// The values that a stage of two upstreams keeps, and when they make something to deliver: ``Pairing`` or ``Latest``.
///
/// A plain value: a rule decides, the stage around it acts. Stages are generic over it, so that its calls are direct.
@usableFromInline protocol PairRule {
  associatedtype First
  associatedtype Second
  associatedtype Output

  static var joins: JoinRule { get }

  mutating func take(first value: First)
  mutating func take(second value: Second)
  /// True while there is something to deliver.
  var hasNext: Bool { get }
  /// Something to deliver, taken from what is kept. Only while there is; an optional in its place would cost each value.
  mutating func next() -> Output
  /// True when nothing more can come.
  func isDone(firstEnded: Bool, secondEnded: Bool) -> Bool
  /// Reports what is kept and will not be delivered.
  mutating func dropRest()
}
