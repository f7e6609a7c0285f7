extension Publishers {
  /// A publisher with a resource that lives as long as the subscription.
  ///
  ///     Publishers.using { try! File(path) } dispose: { $0.close() } publisher: { $0.lines }
  ///
  ///     resource    open---------close
  ///     publisher   ----a--b--|
  ///     downstream  ----a--b--|       (closed before the ending is delivered)
  ///
  /// **Demand, failure:** those of the publisher made. **Cancellation:** disposes of the resource, then passes through.
  /// **Policy:** forwards.
  ///
  /// - Parameters:
  ///   - resource: makes the resource, once per subscriber, when it subscribes.
  ///   - dispose: runs once, before the ending is delivered or when the subscriber cancels.
  ///   - publisher: makes what is subscribed to.
  public static func using<Resource, P: Publisher>(
    _ resource: @escaping () -> Resource, dispose: @escaping (Resource) -> Void,
    publisher: @escaping (Resource) -> P
  ) -> Deferred<Publishers.HandleEvents<P>> {
    Deferred {
      let resource = resource()
      // Once, whatever disposing does to the stream.
      let lease = AnyCancellable { dispose(resource) }
      return publisher(resource).handleEvents(
        receiveCompletion: { _ in lease.cancel() }, receiveCancel: { lease.cancel() })
    }
  }
}
