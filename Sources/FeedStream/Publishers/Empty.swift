/// Delivers no values, and finishes at once or never.
///
///     Empty()                            |
///     Empty(completeImmediately: false)  ----
///
/// **Demand:** its ending waits for none. **Failure:** none. **Cancellation:** as it is subscribed, keeps the ending
/// away. **Policy:** has nothing to deliver.
@frozen public struct Empty<Output, Failure: Error>: Publisher, Equatable {
  /// Whether it finishes at once; if not, it never does.
  public let completeImmediately: Bool

  @inlinable public init(completeImmediately: Bool = true) { self.completeImmediately = completeImmediately }

  @inlinable public init(completeImmediately: Bool = true, outputType: Output.Type, failureType: Failure.Type) {
    self.init(completeImmediately: completeImmediately)
  }

  @inlinable public func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Failure {
    if completeImmediately {
      subscriber.attach(ending: .finished)
    } else {
      subscriber.receive(subscription: Subscriptions.empty)
    }
  }

  @inlinable public func deliverAll(to deliver: (Output) -> Bool) -> Bool { completeImmediately }
}
