extension Sequence {
  /// A publisher that delivers this sequence's elements, then finishes.
  @inlinable public var publisher: Publishers.Sequence<Self, Never> { Publishers.Sequence(sequence: self) }
}

extension Publishers {
  /// Delivers a sequence's elements, then finishes.
  ///
  ///     demand                   1--2---
  ///     [1, 2, 3, 4].publisher   1--23--     (4 and the completion wait for another request)
  ///
  /// **Demand:** as many values as requested, within the request. **Failure:** none. **Cancellation:** immediate.
  /// **Policy:** forwards; reads one more element from the sequence than has been requested.
  @frozen public struct Sequence<Elements: Swift.Sequence, Failure: Error>: Publisher, _DeliversAtHome {
    public typealias Output = Elements.Element

    public let sequence: Elements

    @inlinable public init(sequence: Elements) { self.sequence = sequence }

    @inlinable public func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Failure {
      subscriber.attach("Sequence", delivering: sequence, then: .finished)
    }

    @inlinable public func _deliverAll(to deliver: (Output) -> Bool) -> Bool {
      for element in sequence where !deliver(element) { break }
      return true
    }
  }
}

extension Publishers.Sequence: Equatable where Elements: Equatable {}
