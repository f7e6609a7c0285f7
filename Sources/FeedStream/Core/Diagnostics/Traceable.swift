/// A link of a chain of subscribers that knows the next: what a search for a checkpoint walks along, once something has
/// gone wrong and never before.
@usableFromInline protocol Traceable {
  /// The subscriber below.
  var below: Any { get }
  /// The place that this link marks.
  var checkpoint: Place? { get }
}

extension Traceable {
  @usableFromInline var checkpoint: Place? { nil }
}

/// The nearest checkpoint at or below `link`.
@usableFromInline func nearestCheckpoint(below link: Any) -> Place? {
  var link = link
  // Bounded, should a subscriber come to be its own.
  for _ in 0..<1_000 {
    guard let traceable = link as? any Traceable else { return nil }
    if let place = traceable.checkpoint { return place }
    link = traceable.below
  }
  return nil
}

/// `subject` and the nearest checkpoint below it, for a message.
@inline(never) @usableFromInline func placed(_ subject: Any) -> String {
  guard let place = nearestCheckpoint(below: subject) else { return "\(subject)" }
  return "\(subject), checkpoint \(place)"
}

extension ErasedSubscriber: Traceable {
  @usableFromInline var below: Any { subscriber }
}
