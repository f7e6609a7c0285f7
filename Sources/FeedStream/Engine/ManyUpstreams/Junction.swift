/// Joins several upstreams into one subscriber: the base of the stages that merge, pair, race or concatenate.
///
/// It holds the subscriber, the demand, and the ``ThreadGate`` through which all calls enter: events from the
/// upstreams, requests and the cancellation. A subclass implements requests (`requested`, which must be harmless when
/// the stream is over) and the cancellation (`cancelUpstreams`).
@usableFromInline class Junction<Output, Failure: Error>: GuardedSubscription, GatedStage {
  @usableFromInline final let name: StaticString
  @usableFromInline final let down: ErasedSubscriber<Output, Failure>
  @usableFromInline final let gate: ThreadGate
  @usableFromInline final let entry: GateEntry
  /// The demand that has been requested but not served yet.
  @exclusivity(unchecked) @usableFromInline final var demand = Subscribers.Demand.none
  /// True until the cancellation or the completion.
  @exclusivity(unchecked) @usableFromInline final var isActive = true
  @exclusivity(unchecked) @usableFromInline final var isCancelled = false

  @usableFromInline init(
    _ name: StaticString, _ down: ErasedSubscriber<Output, Failure>, following: ThreadGate.Following = .never
  ) {
    self.name = name
    self.down = down
    gate = ThreadGate(following: following)
    entry = GateEntry(gate)
    super.init()
    joint = gate
    // The gate moves requests and cancellations.
    if gate.takesAnyThread { confinement = .anywhere }
  }

  /// Cancels the upstreams and releases the waiting values, because the stream is cancelled or about to complete.
  /// Called again if a completed stream is cancelled.
  @usableFromInline func cancelUpstreams() {}

  // MARK: The subscriber's side

  @usableFromInline override var takesNone: Bool { !isActive }

  @usableFromInline final override func cancelled() {
    isActive = false
    isCancelled = true
    cancelUpstreams()
  }

  /// Cancels the remaining upstreams and delivers the completion, once.
  @inlinable final func end(_ completion: Subscribers.Completion<Failure>) {
    guard isActive else { return }
    isActive = false
    cancelUpstreams()
    // The subscriber may have cancelled in the meantime.
    if !isCancelled { down.receive(completion: completion) }
  }

  /// False if there is no home: the stage then delivers on whichever thread finds it free.
  @usableFromInline final override var _isConfined: Bool { gate.isHomed }

  @usableFromInline override func tell(_ facts: inout StreamFacts) {
    facts.delivers(to: down)
    facts.demand = demand
    facts.isOver = !isActive
    facts.joins = true
  }

  // MARK: Descriptions

  @usableFromInline final override var description: String { "\(name)" }
}

extension Junction: Traceable {
  @usableFromInline var below: Any { down.subscriber }
}
