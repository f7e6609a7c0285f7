/// What a ``Source`` delivers, and to whom.
@usableFromInline final class Supply<Elements: Sequence, S: Subscriber> where Elements.Element == S.Input {
  @usableFromInline let elements: Elements
  @usableFromInline let subscriber: S
  @usableFromInline let completion: Subscribers.Completion<S.Failure>
  @exclusivity(unchecked) @usableFromInline var iterator: Elements.Iterator
  /// One ahead, so that the ending comes with the last element and not with a request after it.
  @exclusivity(unchecked) @usableFromInline var upcoming: Elements.Element

  /// `nil` when there are no elements.
  @inlinable init?(_ elements: Elements, to subscriber: S, then completion: Subscribers.Completion<S.Failure>) {
    var iterator = elements.makeIterator()
    guard let upcoming = iterator.next() else { return nil }
    self.elements = elements
    self.subscriber = subscriber
    self.completion = completion
    self.iterator = iterator
    self.upcoming = upcoming
  }

  /// Delivers what has been asked for.
  @inlinable func produce(for source: Source) {
    var element = upcoming
    while source.isActive, source.demand > .none {
      if source.demand == .unlimited {
        // For good, so that nothing is counted; and nobody comes back to the iterator, which need not be kept.
        var rest = iterator
        while let next = rest.next() {
          // The sequence may be somebody's code, and cancel.
          guard source.isActive else { return }
          _ = subscriber.receive(element)
          guard source.isActive else { return }
          element = next
        }
        guard source.isActive else { return }
        _ = subscriber.receive(element)
        guard source.isActive else { return }
        source.end()
        return subscriber.receive(completion: completion)
      }
      let next = iterator.next()
      guard source.isActive else { return }
      source.demand.takeOne()
      source.demand += subscriber.receive(element)
      guard let next else {
        guard source.isActive else { return }
        source.end()
        return subscriber.receive(completion: completion)
      }
      element = next
    }
    upcoming = element
  }
}

extension Subscriber {
  /// Hands over a subscription that delivers `elements` as asked and then `completion`.
  ///
  /// - Parameter showingEnding: whether mirrors tell how it will end.
  @inlinable func attach<Elements: Sequence>(
    _ name: StaticString, delivering elements: Elements, then completion: Subscribers.Completion<Failure>,
    showingEnding: Bool = false
  ) where Elements.Element == Input {
    guard let supply = Supply(elements, to: self, then: completion) else { return attach(ending: completion) }
    receive(
      subscription: Source(
        name, supply, ending: showingEnding ? completion : nil,
        produce: { unsafeDowncast($0, to: Supply<Elements, Self>.self).produce(for: $1) },
        show: { unsafeDowncast($0, to: Supply<Elements, Self>.self).elements }))
  }
}
