/// Starts work immediately and delivers its one result to every subscriber, early or late.
///
///     promise(.success(1))    ----1|
///
/// The work starts when the future is made, and its result is kept. To start the work on subscription, wrap the
/// future in ``Deferred``. Only the first call to the promise counts; later results are dropped and reported.
///
/// **Demand:** a value waits for the first request; a failure needs none. **Failure:** the failure given to the
/// promise. **Cancellation:** a subscriber cancels only its own subscription; the work continues. **Policy:** keeps its
/// one result. **Confinement:** not `Sendable`; see ``Promise``.
public final class Future<Output, Failure: Error>: Publisher, _DeliversAtHome {
  /// Fulfills the future. Only the first call counts; a later result is dropped and reported.
  ///
  /// Safe to use from any thread. After the call, an output that isn't `Sendable` belongs to the stream's thread; the
  /// caller must no longer use it.
  public typealias Promise = @Sendable (Result<Output, Failure>) -> Void

  // Guarded by the mutex: any thread may subscribe, and cancel a subscription that it has made.
  @exclusivity(unchecked) @usableFromInline var result: Result<Output, Failure>?
  /// The subscribers that have not received the result, in the order in which they subscribed.
  @exclusivity(unchecked) @usableFromInline var waiting: [FutureSubscription<Output, Failure>] = []
  @usableFromInline let mutex = SystemMutex()
  /// Notified when subscribers begin or stop waiting for the result, which comes from outside the stream.
  @usableFromInline let waits: FutureWaits

  /// Makes a future whose result comes from outside the stream.
  init(_ waits: FutureWaits) { self.waits = waits }

  @inlinable public func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Failure {
    if waits.isElsewhere { return receive(inLane: ErasedSubscriber(subscriber)) }
    let subscription = FutureSubscription(ErasedSubscriber(subscriber), self)
    add(subscription)
    subscription.begin()
  }

  @usableFromInline func add(_ subscription: FutureSubscription<Output, Failure>) {
    mutex.withLock {
      if let result {
        subscription.result = result
      } else {
        waiting.append(subscription)
        waits.awaited(1)
      }
    }
  }

  @usableFromInline func remove(_ subscription: FutureSubscription<Output, Failure>) {
    mutex.withLock {
      guard let index = waiting.firstIndex(where: { $0 === subscription }) else { return }
      waiting.remove(at: index)
      waits.awaited(-1)
    }
  }

  /// Called where the future lives.
  func fulfill(_ result: Result<Output, Failure>) {
    let subscriptions: [FutureSubscription<Output, Failure>]? = mutex.withLock {
      guard self.result == nil else { return nil }
      self.result = result
      return waiting.take()
    }
    guard let subscriptions else { return StreamDiagnostics.dropped(result, "Future", .terminated) }
    for subscription in subscriptions {
      if let lane = subscription.lane {
        lane.post { subscription.fulfillInLane(result) }
      } else {
        subscription.fulfill(result)
      }
    }
    waits.fulfilled()
  }

  // A subscription that isn't made on the future's loop, or that is made where there is no loop, has its own lane, in
  // which threads take turns: the subscription is delivered, receives requests, and is fulfilled there. Stages that
  // join several publishers, and subscribers that cancel on another thread, already support lanes, because queues use
  // them.
  @inline(never) @usableFromInline func receive(inLane subscriber: ErasedSubscriber<Output, Failure>) {
    CurrentDomain.noteQueue()
    let lane = SerialLane("of the thread that fulfills a Future", holder: Home.holder)
    let subscription = FutureSubscription(subscriber, self, lane)
    lane.begin(at: Home.current) {
      add(subscription)
      subscription.handDown()
    } then: {
      subscription.serve(subscription)
    }
  }
}

/// Notified when subscribers begin or stop waiting for a future whose result comes from outside the stream.
@usableFromInline class FutureWaits {
  /// True if the future has no loop, or the calling code doesn't run on it.
  @usableFromInline var isElsewhere: Bool { false }
  /// Called when the number of waiting subscribers changes by `number`. Safe to use from any thread.
  @usableFromInline func awaited(_ number: Int) {}
  /// Called where the future lives, when its result is known. From then on, no subscriber waits.
  func fulfilled() {}
}

extension Future where Output: Sendable, Failure == Never {
  /// Waits for the value.
  ///
  /// Runs in the caller's isolation. **Cancellation:** has no effect; waiting continues until the future is fulfilled.
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
  /// Runs in the caller's isolation. **Cancellation:** has no effect; waiting continues until the future is fulfilled.
  ///
  /// - Throws: the future's failure.
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
  /// The lane of a subscription to a future without a loop.
  @usableFromInline private(set) var lane: SerialLane?

  @inlinable convenience init(_ down: ErasedSubscriber<Output, Failure>, _ future: Future<Output, Failure>) {
    self.init("Future", down, nil) { $0.deliver() }
    self.future = future
  }

  @usableFromInline convenience init(
    _ down: ErasedSubscriber<Output, Failure>, _ future: Future<Output, Failure>, _ lane: SerialLane
  ) {
    self.init("Future", down, nil) { $0.deliver() }
    self.future = future
    self.lane = lane
    confinement = Confinement(home: lane)
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
    if down == nil { discard(future.take()) }
  }

  /// Delivers this subscription to the subscriber, which receives the result afterwards.
  @usableFromInline func handDown() {
    isOpen = true
    down?.receive(subscription: self)
  }

  @usableFromInline func fulfillInLane(_ result: Result<Output, Failure>) {
    if lane?.isOver == false { fulfill(result) }
  }

  override func requested(_ demand: Subscribers.Demand) {
    guard let lane else { return super.requested(demand) }
    guard lane.isHere else { return lane.post { self.requested(demand) } }
    if lane.isHandingDownHere { isAsked = true } else { super.requested(demand) }
  }

  override func cancelled() {
    if let lane, !lane.isHere { return lane.revoke { self.cancelled() } }
    future?.remove(self)
    discard(future.take())
    super.cancelled()
  }

  override var customMirror: Mirror {
    let future: Any = future as Any
    return mirror([
      "parent": future, "downstream": down?.subscriber as Any, "hasAnyDemand": isAsked, "subject": future,
    ])
  }
}
