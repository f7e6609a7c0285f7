extension Publishers {
  /// A publisher that uses a resource for the lifetime of each subscription.
  ///
  ///     Publishers.using { try! File(path) } dispose: { $0.close() } publisher: { $0.lines }
  ///
  ///     resource    open---------close
  ///     publisher   ----a--b--|
  ///     downstream  ----a--b--|       (closed before the completion is delivered)
  ///
  /// **Demand, failure:** as in the publisher that `publisher` makes. **Cancellation:** disposes of the resource, and
  /// then passes through.
  /// **Policy:** forwards.
  ///
  /// - Parameters:
  ///   - resource: makes the resource, once per subscriber, when it subscribes.
  ///   - dispose: runs once, before the completion is delivered or when the subscriber cancels.
  ///   - publisher: makes the publisher to subscribe to.
  @inlinable public static func using<Resource, P: Publisher>(
    _ resource: @escaping () -> Resource, dispose: @escaping (Resource) -> Void,
    publisher: @escaping (Resource) -> P
  ) -> Using<Resource, P> {
    Using(resource: resource, dispose: dispose, publisher: publisher)
  }

  /// See ``Publishers/using(_:dispose:publisher:)``.
  public struct Using<Resource, Base: Publisher>: Publisher {
    public typealias Output = Base.Output
    public typealias Failure = Base.Failure

    public let resource: () -> Resource
    public let dispose: (Resource) -> Void
    public let publisher: (Resource) -> Base

    @usableFromInline init(
      resource: @escaping () -> Resource, dispose: @escaping (Resource) -> Void,
      publisher: @escaping (Resource) -> Base
    ) {
      self.resource = resource
      self.dispose = dispose
      self.publisher = publisher
    }

    @inlinable public func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Failure {
      let resource = resource()
      // Dispose of the resource only once, even if doing so ends the stream.
      let lease = AnyCancellable { [dispose] in dispose(resource) }
      publisher(resource).subscribe(
        TapStage("Using", ErasedSubscriber(subscriber), reportsAfterEnd: false, onValue: nil) { event in
          switch event {
          case .completion, .cancel: lease.cancel()
          case .subscription, .request, .answer: break
          }
        })
    }
  }
}
