extension Sequence {
  /// A publisher that delivers this sequence's elements, then finishes.
  @inlinable
  public var publisher: Publishers.Sequence<Self, Never> { Publishers.Sequence(sequence: self) }
}

extension Publishers {
  /// Delivers a sequence's elements, then finishes.
  ///
  /// **Demand:** as many as asked for, in the call that asks. **Cancellation:** at once.
  @frozen
  public struct Sequence<Elements: Swift.Sequence, Failure: Error>: Publisher {
    public typealias Output = Elements.Element

    public let sequence: Elements

    @inlinable
    public init(sequence: Elements) { self.sequence = sequence }

    @inlinable
    public func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Failure {
      var iterator = sequence.makeIterator()
      // One ahead, so that the ending comes with the last element and not with a request after it.
      guard var upcoming = iterator.next() else {
        subscriber.receive(subscription: Subscriptions.empty)
        subscriber.receive(completion: .finished)
        return
      }
      let source = Source("Sequence", show: { [sequence] in sequence }) { source in
        var element = upcoming
        while source.isActive, source.demand > .none {
          let next = iterator.next()
          if source.demand != .unlimited { source.demand.rawValue &-= 1 }
          source.demand += subscriber.receive(element)
          guard let next else {
            guard source.isActive else { return }
            source.end()
            subscriber.receive(completion: .finished)
            return
          }
          element = next
        }
        upcoming = element
      }
      subscriber.receive(subscription: source)
    }
  }
}

extension Publishers.Sequence: Equatable where Elements: Equatable {}
