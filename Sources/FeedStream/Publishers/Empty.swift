/// Delivers no values, and finishes immediately or never.
///
///     Empty()                            |
///     Empty(completeImmediately: false)  ----
///
/// **Demand:** the completion needs none. **Failure:** none. **Cancellation:** prevents the completion if the
/// subscriber cancels while subscribing. **Policy:** has no values.
@frozen public struct Empty<Output, Failure: Error>: Publisher, Equatable, _DeliversAtHome {
  /// True when this publisher finishes immediately; otherwise, it never finishes.
  public let completeImmediately: Bool

  @inlinable public init(completeImmediately: Bool = true) { self.completeImmediately = completeImmediately }

  @inlinable public init(completeImmediately: Bool = true, outputType: Output.Type, failureType: Failure.Type) {
    self.init(completeImmediately: completeImmediately)
  }

  @inlinable public func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Failure {
    if completeImmediately {
      subscriber.attach(ending: .finished)
    } else {
      subscriber.receive(subscription: NeverSubscription())
    }
  }

  @inlinable public func _deliverAll(to deliver: (Output) -> Bool) -> Bool { completeImmediately }
}
