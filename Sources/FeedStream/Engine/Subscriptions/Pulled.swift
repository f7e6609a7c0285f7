/// A publisher of the values of a ``PullSource``: each subscription makes its own source. For a single result, see
/// ``WorkOnRequest``.
@frozen @usableFromInline package struct Pulled<Source: PullSource>: Publisher, _DeliversAtHome {
  @usableFromInline package typealias Output = Source.Value
  @usableFromInline package typealias Failure = Source.Failure

  @usableFromInline let name: StaticString
  @usableFromInline let make: () -> Source

  /// - Parameters:
  ///   - name: the publisher's name in messages.
  ///   - make: makes the source of one subscription.
  @inlinable package init(_ name: StaticString, _ make: @escaping () -> Source) {
    self.name = name
    self.make = make
  }

  @inlinable package func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Failure {
    PullSubscription(name, subscriber, make()).begin()
  }
}
