/// Delivers the one result of work that begins at once, to every subscriber, whenever it subscribes.
///
///     promise(.success(1))    ----1|
///
/// The work starts when the future is made, not when somebody subscribes (wrap it in ``Deferred`` for that), and its
/// result is kept. The first call of the promise counts, later ones are dropped, and reported.
///
/// **Demand:** a value waits for the first request; a failure waits for nothing. **Failure:** that with which the
/// promise is called. **Cancellation:** the subscriber's own; the work goes on. **Policy:** keeps its one result.
/// **Confinement:** not `Sendable`; keep the promise on the stream's thread.
public final class Future<Output, Failure: Error>: Publisher {
  /// Fulfils the future.
  public typealias Promise = (Result<Output, Failure>) -> Void

  @exclusivity(unchecked) @usableFromInline var result: Result<Output, Failure>?
  /// The subscribers that the result has not reached, in the order in which they subscribed.
  @exclusivity(unchecked) @usableFromInline var waiting: [FutureSubscription<Output, Failure>] = []
  /// What must know whether anybody waits, when the result comes from elsewhere.
  @exclusivity(unchecked) @usableFromInline var waits: FutureWaits?

  /// - Parameter attemptToFulfill: runs immediately; calls the promise it is given, now or later.
  @_disfavoredOverload @inlinable public init(_ attemptToFulfill: @escaping (@escaping Promise) -> Void) {
    attemptToFulfill { [self] in fulfill($0) }
  }

  /// A future that is fulfilled from elsewhere.
  init(_ waits: FutureWaits) { self.waits = waits }

  @inlinable public func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Failure {
    let subscription = FutureSubscription(ErasedSubscriber(subscriber), self)
    if result == nil {
      waiting.append(subscription)
      waits?.awaited(true)
    }
    subscription.begin()
  }

  @inlinable func fulfill(_ result: Result<Output, Failure>) {
    guard self.result == nil else { return StreamDiagnostics.dropped(result, "Future", .terminated) }
    self.result = result
    waits?.awaited(false)
    waits = nil
    for subscription in waiting.take() { subscription.fulfill(result) }
  }

  @usableFromInline func remove(_ subscription: FutureSubscription<Output, Failure>) {
    waiting.removeAll { $0 === subscription }
    if waiting.isEmpty { waits?.awaited(false) }
  }
}

/// Whoever must know whether anybody waits for a future, because its result comes from elsewhere.
@usableFromInline class FutureWaits {
  @usableFromInline func awaited(_ isAwaited: Bool) {}
}

extension Future where Output: Sendable, Failure == Never {
  /// The value, once there is one.
  ///
  /// Runs where its caller does. **Cancellation:** waiting goes on until the future is fulfilled.
  public nonisolated(nonsending) var value: Output {
    get async {
      await withUnsafeContinuation { continuation in
        wait { continuation.resume(returning: $0.get()) }
      }
    }
  }
}

extension Future where Output: Sendable {
  /// The value, once there is one.
  ///
  /// Runs where its caller does. **Cancellation:** waiting goes on until the future is fulfilled.
  ///
  /// - Throws: the failure with which the future was fulfilled.
  public nonisolated(nonsending) var value: Output {
    get async throws {
      try await withUnsafeThrowingContinuation { continuation in
        wait { continuation.resume(with: $0) }
      }
    }
  }

  fileprivate func wait(_ use: @escaping (Result<Output, Failure>) -> Void) {
    receive(
      subscriber: AnySubscriber<Output, Failure>(
        receiveSubscription: { $0.request(.max(1)) },
        receiveValue: {
          use(.success($0))
          return .none
        },
        receiveCompletion: { if case .failure(let error) = $0 { use(.failure(error)) } }))
  }
}

@usableFromInline final class FutureSubscription<Output, Failure: Error>: ResultSubscription<Output, Failure> {
  @exclusivity(unchecked) @usableFromInline var future: Future<Output, Failure>?

  @inlinable convenience init(_ down: ErasedSubscriber<Output, Failure>, _ future: Future<Output, Failure>) {
    self.init("Future", down, future.result) { $0.deliver() }
    self.future = future
  }

  @usableFromInline override init(
    _ name: StaticString, _ down: ErasedSubscriber<Output, Failure>, _ result: Result<Output, Failure>?,
    serve: @escaping (ResultSubscription<Output, Failure>) -> Void
  ) {
    super.init(name, down, result, serve: serve)
  }

  /// The promise was kept. The mirror goes on showing the future, as Combine's does, where the result cannot be delivered
  /// yet.
  @usableFromInline func fulfill(_ result: Result<Output, Failure>) {
    settle(result)
    if down == nil { future = nil }
  }

  override func cancelled() {
    future?.remove(self)
    future = nil
    super.cancelled()
  }

  override var customMirror: Mirror {
    let future: Any = future as Any
    return Mirror(
      self,
      children: [
        "parent": future, "downstream": down?.subscriber as Any, "hasAnyDemand": isAsked, "subject": future,
      ])
  }
}
