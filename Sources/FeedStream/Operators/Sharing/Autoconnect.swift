extension ConnectablePublisher {
  /// Connects when the first subscriber attaches and disconnects when the last one cancels.
  ///
  ///     first subscriber   x------cancels
  ///     connected          x-------------x
  ///     second subscriber      x---------cancels
  ///
  /// After a disconnection, the next subscriber to attach connects again. After upstream has completed, attaching no
  /// longer connects. The exception is a ``ConnectablePublisher`` of your own, if all its subscribers have cancelled:
  /// the next one then calls `connect()`. **Demand, failure:** pass through. **Cancellation:** when the last subscriber
  /// cancels, the connection is cancelled before the subscription, even if the source is delivering values during
  /// `connect()`. If that happens during `connect()` of a ``ConnectablePublisher`` of your own, the connection is
  /// cancelled when that call returns. **Policy:** the same as this publisher's.
  @inlinable public func autoconnect() -> Publishers.Autoconnect<Self> { Publishers.Autoconnect(upstream: self) }
}

extension Publishers {
  /// See ``ConnectablePublisher/autoconnect()``.
  public class Autoconnect<Upstream: ConnectablePublisher>: Publisher {
    public typealias Output = Upstream.Output
    public typealias Failure = Upstream.Failure

    public final let upstream: Upstream
    // Guarded by the mutex: subscribers below queues cancel on several threads.
    private final var count = 0
    private final var connection: (any Cancellable)?
    private final var isConnecting = false
    /// True when the connection that is being made has been cancelled.
    private final var isStopped = false
    private final let mutex = SystemMutex()

    @inlinable public init(upstream: Upstream) { self.upstream = upstream }

    @_documentation(visibility: internal)
    @inlinable public final var _deliversAtHome: Bool { upstream._deliversAtHome }

    // Final: a generic method called through a class's vtable is never specialized.
    @inlinable public final func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Failure {
      add()
      let leave = { [self] in remove() }
      if S.isFullyFused {
        upstream.receive(subscriber: AutoconnectStage(subscriber.erased, leave))
      } else {
        upstream.receive(subscriber: AutoconnectStage(subscriber, leave))
      }
      connect()
    }

    @usableFromInline final func add() { mutex.withLock { count += 1 } }

    /// Connects, unless attaching has already led to a connection or all subscribers have cancelled.
    @inlinable final func connect() {
      while beginsConnecting(), !endsConnecting(upstream.connect()) {}
    }

    /// - Returns: true if the caller must connect, and then call ``endsConnecting(_:)``.
    @usableFromInline final func beginsConnecting() -> Bool {
      guard !isOver else { return false }
      return mutex.withLock {
        guard count > 0, connection == nil, !isConnecting else { return false }
        isConnecting = true
        isStopped = false
        return true
      }
    }

    /// - Returns: false if the connection was cancelled in the meantime: new subscribers may have attached since.
    @usableFromInline final func endsConnecting(_ made: any Cancellable) -> Bool {
      let isWanted = mutex.withLock {
        isConnecting = false
        guard count > 0, !isStopped else { return false }
        connection = made
        return true
      }
      if !isWanted { made.cancel() }
      return isWanted
    }

    /// True when upstream has completed. Connecting would then run upstream again without a subscriber.
    @usableFromInline final var isOver: Bool { (upstream as? any OwnConnectable)?.hasCompleted ?? false }

    @usableFromInline final func remove() {
      let (connection, mustStop) = mutex.withLock {
        count -= 1
        guard count == 0 else { return ((any Cancellable)?.none, false) }
        let connection = self.connection.take()
        let mustStop = connection == nil && isConnecting
        if mustStop, upstream is any OwnConnectable { isStopped = true }
        return (connection, mustStop)
      }
      connection?.cancel()
      if mustStop, let upstream = upstream as? any OwnConnectable { upstream.stopConnecting() }
    }
  }
}

/// A connectable publisher of this library, which reports the state of its connection.
@usableFromInline protocol OwnConnectable {
  /// Cancels the connection that is being made, before `connect()` returns it: some sources deliver during that call.
  func stopConnecting()
  /// True when a connection has completed, and its subject with it.
  var hasCompleted: Bool { get }
}

@frozen @usableFromInline struct AutoconnectStage<Downstream: Subscriber>: FusedStage {
  @usableFromInline let downstream: Downstream
  @usableFromInline let leave: () -> Void

  @inlinable init(_ downstream: Downstream, _ leave: @escaping () -> Void) {
    self.downstream = downstream
    self.leave = leave
  }

  @inlinable func receive(subscription: any Subscription) {
    downstream.receive(subscription: CountedSubscription(subscription, leave))
  }

  @inlinable func receive(_ input: Input) -> Subscribers.Demand { downstream.receive(input) }
}

/// A subscription that looks like the one it wraps and reports its first cancellation. The wrapped subscription checks
/// the thread.
@usableFromInline final class CountedSubscription: GuardedSubscription {
  private let up: any Subscription
  private let leave: Locked<(() -> Void)?>

  @usableFromInline init(_ up: any Subscription, _ leave: @escaping () -> Void) {
    self.up = up
    self.leave = Locked(Carried(uncheckedly: leave).value)
    super.init()
    confinement = .anywhere
  }

  override func requested(_ demand: Subscribers.Demand) { up.request(demand) }

  override func cancelled() {
    leave.withLock { Carried(uncheckedly: $0.take()) }.value?()
    up.cancel()
  }

  override func tell(_ facts: inout StreamFacts) {
    facts.isTransparent = true
    facts.upstreams = [up]
  }

  override func joined(by gate: any EntryGate) { up.join(gate) }
  override var gateAbove: (any EntryGate)? { (up as? any GateBearer)?.gateAbove }
  override var _isConfined: Bool { up._isConfined }
  override var takesRequestsAnywhere: Bool { (up as? GuardedSubscription)?.takesRequestsAnywhere ?? false }
  override var takesNone: Bool { true }
  override var combineIdentifier: CombineIdentifier { up.combineIdentifier }
  override var description: String { String(describing: up) }
}
