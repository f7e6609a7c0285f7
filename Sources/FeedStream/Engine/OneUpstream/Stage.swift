/// Implements the life cycle that all stateful operators share.
///
/// A stage sits between an upstream subscription and one subscriber. It is generic over *values* only: its subscriber
/// is erased to functions, so that repeating an operator in a chain does not nest its types. A subclass adds its state
/// and one rule: `receive(_:)`. The rules of the protocol are implemented here: the first subscription wins, there is
/// one completion, nothing follows a completion, and `cancel()` is final and idempotent.
///
/// A stage retains its subscriber until the stage itself is released, and releases its upstream at the completion. A
/// subscriber breaks the retain cycle by releasing its subscription, as ``Subscribers/Sink`` does.
@usableFromInline class Stage<Output, Failure: Error>: GuardedSubscription {
  /// `begun`: live, but without an event yet, from an upstream that may deliver on any thread. `draining`: upstream has
  /// completed, but the subscriber has not received everything yet.
  @usableFromInline enum Phase { case waiting, begun, live, draining, ended }

  /// The treatment of strays: events that upstream sends in violation of the rules, before its subscription or after
  /// the completion.
  ///
  /// Combine's operators differ in this treatment. Each operator here follows its counterpart: it may pass on
  /// upstream's violations, but adds none of its own.
  @usableFromInline enum Strays {
    /// Nothing passes.
    case ignored
    /// Values pass; completions do not.
    case valuesPass
    /// Values pass, and so do the errors that an operator's closure throws for them; upstream's completions do not.
    case valuesAndErrorsPass
    /// Everything passes before the subscription, nothing after the completion.
    case earlyPass
    /// Everything passes.
    case allPass
    /// An event or a request before the subscription traps; nothing passes after the completion.
    case earlyTraps
  }

  @usableFromInline final let down: ErasedSubscriber<Output, Failure>
  @exclusivity(unchecked) @usableFromInline final var phase: Phase = .waiting
  @exclusivity(unchecked) @usableFromInline final var up: (any Subscription)?
  /// Upstream, if it may deliver on any thread.
  @exclusivity(unchecked) @usableFromInline final var unconfined: UnconfinedUpstream?

  @inlinable init(_ down: ErasedSubscriber<Output, Failure>) { self.down = down }

  // MARK: Upstream's side

  /// Accepts the first subscription and delivers this stage as the subscription; refuses any other.
  @inlinable func receive(subscription: any Subscription) {
    guard phase == .waiting else {
      subscription.cancel()
      return
    }
    confinement.follow(joint)
    attach(subscription)
    began()
  }

  /// Makes `subscription` the subscription to upstream.
  @inlinable final func attach(_ subscription: any Subscription) {
    if unconfined == nil, subscription._isConfined {
      phase = .live
      up = subscription
    } else {
      attachUnconfined(subscription)
    }
  }

  @inline(never) @usableFromInline final func attachUnconfined(_ subscription: any Subscription) {
    if unconfined == nil { phase = .begun }
    let upstream = unconfined ?? UnconfinedUpstream()
    unconfined = upstream
    up = upstream.attach(subscription)
    confinement.relax()
  }

  /// Called at the first event from an upstream that may deliver on any thread.
  ///
  /// - Returns: false if the stream had already been cancelled.
  @inline(never) @usableFromInline final func begin() -> Bool {
    if let unconfined, !unconfined.begin() { return false }
    phase = .live
    return true
  }

  /// Delivers this stage as the subscription. An operator that starts with its own request overrides this.
  @inlinable func began() { down.receive(subscription: self) }

  /// Delivers this stage as the subscription to a stream that is already complete. Upstream is cancelled first: the
  /// subscriber may request values when it receives the subscription.
  @usableFromInline final func began(completing completion: Subscribers.Completion<Failure>) {
    phase = .draining
    up.take()?.cancel()
    down.receive(subscription: self)
    // The subscriber may have cancelled in the meantime.
    guard phase == .draining else { return }
    phase = .ended
    forget()
    down.receive(completion: completion)
  }

  /// True when an arriving event is expected. `takesStray()` decides about an unexpected value, off the hot path.
  @inlinable final var takesEvents: Bool {
    @inline(__always) get { phase == .live || phase == .begun && begin() }
  }

  /// True when events are expected.
  @inlinable final var isLive: Bool { @inline(__always) get { phase == .live || phase == .begun } }

  @usableFromInline var strays: Strays { .ignored }

  /// True if a value must be handled although this stage isn't live.
  @inline(never) @usableFromInline final func takesStray() -> Bool {
    trapIfEarly("a value arrived")
    switch strays {
    case .valuesPass, .valuesAndErrorsPass, .allPass: return phase != .draining
    case .earlyPass: return phase == .waiting
    case .ignored, .earlyTraps: return false
    }
  }

  @usableFromInline final func trapIfEarly(_ what: String) {
    precondition(
      strays != .earlyTraps || phase != .waiting,
      "\(placed(self)): \(what) before the subscription; call receive(subscription:) before anything else")
  }

  /// True when a completion is expected, or passes anyway.
  @inlinable final func takesEnding() -> Bool {
    trapIfEarly("a completion arrived")
    switch phase {
    case .live: return true
    case .begun: return begin()
    case .waiting: return strays == .earlyPass || strays == .allPass
    case .ended: return strays == .allPass
    case .draining: return false
    }
  }

  /// Forwards a completion that is expected, or a stray one that passes; refuses any other.
  @inlinable final func finish(_ completion: Subscribers.Completion<Failure>) {
    guard takesEnding() else { return }
    phase = .ended
    releaseUpstream()
    forget()
    down.receive(completion: completion)
  }

  /// Releases upstream's subscription after the completion. If upstream may deliver on any thread, another thread may be
  /// requesting values at this moment, so `up` stays.
  @inlinable @inline(__always) final func releaseUpstream() {
    if let unconfined { unconfined.releaseUpstream() } else { discard(up.take()) }
  }

  /// Completes the stream before upstream does: cancels upstream, then completes downstream.
  @inlinable @inline(never) final func stop(_ completion: Subscribers.Completion<Failure>) {
    guard isLive || phase == .waiting && strays == .earlyPass else { return }
    phase = .ended
    up.take()?.cancel()
    forget()
    down.receive(completion: completion)
  }

  /// Delivers a last value and finishes. Upstream is cancelled first, so that nothing comes between them.
  @inlinable @inline(never) final func stop(after value: Output) {
    phase = .draining
    up.take()?.cancel()
    guard phase == .draining else { return }
    _ = down.receive(value)
    // The subscriber may have cancelled in the meantime.
    guard phase == .draining else { return }
    phase = .ended
    forget()
    down.receive(completion: .finished)
  }

  /// Releases held values and cancels scheduled work. Called when the stream has completed or was cancelled.
  @usableFromInline func forget() {}

  // MARK: Downstream's side

  @inlinable override func requested(_ demand: Subscribers.Demand) {
    trapIfEarly("values were requested")
    up?.request(demand)
  }

  /// Cancels upstream and delivers nothing more. Before the subscription, there is nothing to cancel.
  @inlinable override func cancelled() {
    guard phase != .ended, phase != .waiting || strays == .earlyTraps else { return }
    phase = .ended
    up.take()?.cancel()
    forget()
  }

  @usableFromInline override func tell(_ facts: inout StreamFacts) {
    facts.upstreams = [up].compactMap { $0 }
    facts.delivers(to: down)
    facts.isOver = phase == .ended
  }

  @usableFromInline override func joined(by gate: any EntryGate) { if joint == nil { up?.join(gate) } }

  @usableFromInline override var cancellationGate: (any CancellationGate)? { unconfined }
  @usableFromInline override var _isConfined: Bool { joint.map(\.isHomed) ?? (unconfined == nil) }

  // MARK: Descriptions

  override var customMirror: Mirror { mirror(["downstream": down.subscriber, "phase": phase]) }
}

extension Stage: Traceable {
  @usableFromInline var below: Any { down.subscriber }
}
