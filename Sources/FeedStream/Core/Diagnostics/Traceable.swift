/// A member of a chain of subscribers that refers to the next one. The live map follows these links, and so does the
/// search for a checkpoint after something has gone wrong.
@usableFromInline protocol Traceable {
  /// The subscriber below.
  var below: Any { get }
  /// The place that this member marks.
  var checkpoint: Place? { get }
}

extension Traceable {
  @usableFromInline var checkpoint: Place? { nil }
}

/// A subscriber from another module that only passes everything on to the next one, and isn't a node of the map.
package protocol PassingSubscriber {
  var passed: Any { get }
}

/// The nearest checkpoint at or below `link`.
@usableFromInline func nearestCheckpoint(below link: Any) -> Place? {
  var link = link
  // Bounded, in case a subscriber is its own downstream.
  for _ in 0..<1_000 {
    if let passing = link as? any PassingSubscriber {
      link = passing.passed
      continue
    }
    guard let traceable = link as? any Traceable else { return nil }
    if let place = traceable.checkpoint { return place }
    link = traceable.below
  }
  return nil
}

/// `subject` and the nearest checkpoint below it, as text for a message.
@inline(never) @usableFromInline func placed(_ subject: Any) -> String {
  guard let place = nearestCheckpoint(below: subject) else { return "\(subject)" }
  return "\(subject), checkpoint \(place)"
}

extension ErasedSubscriber: Traceable {
  @usableFromInline var below: Any { subscriber }
}
