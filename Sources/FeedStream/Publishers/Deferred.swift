/// Makes a new publisher for every subscriber.
///
///     Deferred { [count()].publisher }
///     first subscriber    -1-|
///     second subscriber   -2-|
///
/// **Demand, failure, cancellation, policy:** as in the publisher that it makes.
@frozen public struct Deferred<DeferredPublisher: Publisher>: Publisher {
  public typealias Output = DeferredPublisher.Output
  public typealias Failure = DeferredPublisher.Failure

  /// Runs each time that a subscriber subscribes.
  public let createPublisher: () -> DeferredPublisher

  @inlinable public init(createPublisher: @escaping () -> DeferredPublisher) { self.createPublisher = createPublisher }

  @inlinable public func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Failure {
    createPublisher().subscribe(subscriber)
  }
}
