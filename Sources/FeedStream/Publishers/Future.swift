/// Starts work immediately and delivers its one result to every subscriber, early or late.
///
///     promise(.success(1))    ----1|
///
/// The work starts when the future is made, not when somebody subscribes (wrap it in ``Deferred`` for that), and its
/// result is kept. The first call of the promise counts; later ones are dropped, and reported.
///
/// **Demand:** a value waits for the first request; a failure needs none. **Failure:** the failure given to the
/// promise. **Cancellation:** a subscriber cancels its own subscription only; the work continues. **Policy:** keeps its
/// one result. **Confinement:** not `Sendable`; see ``Promise``.
public final class Future<Output, Failure: Error>: Publisher {
  /// Fulfils the future. Only the first call counts; a later one is dropped and reported.
  ///
  /// A promise of a `Sendable` output may be called from any thread; one of another output belongs to the stream's
  /// thread (`CONTRACT.md`, rule 1).
  public typealias Promise = @Sendable (Result<Output, Failure>) -> Void

  @exclusivity(unchecked) @usableFromInline var result: Result<Output, Failure>?
  /// The subscribers that have not received the result, in the order in which they subscribed.
  @exclusivity(unchecked) @usableFromInline var waiting: [FutureSubscription<Output, Failure>] = []
  /// Notified when subscribers wait, for a result that comes from outside the stream.
  @exclusivity(unchecked) @usableFromInline var waits: FutureWaits?

  /// - Parameter attemptToFulfill: runs immediately; calls the promise it receives, now or later.
  @inlinable public init(_ attemptToFulfill: (@escaping Promise) -> Void) {
    let promise = OwnPromise(self)
    attemptToFulfill { promise.fulfill($0) }
  }

  /// A future whose result comes from outside the stream.
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

/// The promise of an output that stays on its thread.
// @unchecked: called on the stream's thread alone, which is checked in debug builds.
@usableFromInline final class OwnPromise<Output, Failure: Error>: @unchecked Sendable {
  private let future: Future<Output, Failure>
  private var confinement = Confinement()

  @usableFromInline init(_ future: Future<Output, Failure>) { self.future = future }

  @usableFromInline func fulfill(_ result: Result<Output, Failure>) {
    confinement.check("Future")
    future.fulfill(result)
  }
}

/// Notified when subscribers wait for a future whose result comes from outside the stream.
@usableFromInline class FutureWaits {
  @usableFromInline func awaited(_ isAwaited: Bool) {}
}

extension Future where Output: Sendable, Failure == Never {
  /// Waits for the value.
  ///
  /// Runs where its caller runs. **Cancellation:** has no effect; waiting continues until the future is fulfilled.
  public nonisolated(nonsending) var value: Output {
    get async {
      await withUnsafeContinuation { continuation in
        wait { continuation.resume(returning: $0.get()) }
      }
    }
  }
}

extension Future where Output: Sendable {
  /// Waits for the value.
  ///
  /// Runs where its caller runs. **Cancellation:** has no effect; waiting continues until the future is fulfilled.
  ///
  /// - Throws: the failure of the future.
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

  /// Called when the promise is fulfilled. While the result cannot be delivered yet, the mirror still shows the future,
  /// as in Combine.
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
    return mirror([
      "parent": future, "downstream": down?.subscriber as Any, "hasAnyDemand": isAsked, "subject": future,
    ])
  }
}
