/// Joins several upstreams into one subscriber: the base of the stages that merge, pair, race or concatenate.
///
/// It holds the subscriber, the demand and the completion, and the ``ThreadGate`` through which all events come: those
/// of the upstreams, requests and the cancellation. A subclass implements a request (`demanded`, harmless when the
/// stream is over) and the cancellation (`cancelUpstreams`).
@usableFromInline class Junction<Output, Failure: Error>: GuardedSubscription, GatedStage {
  @usableFromInline final let name: StaticString
  @usableFromInline final let down: ErasedSubscriber<Output, Failure>
  @usableFromInline final let gate: ThreadGate
  @usableFromInline final let entry: GateEntry
  /// The demand requested and not yet served.
  @exclusivity(unchecked) @usableFromInline final var demand = Subscribers.Demand.none
  /// True until the cancellation or the completion.
  @exclusivity(unchecked) @usableFromInline final var isActive = true
  @exclusivity(unchecked) @usableFromInline final var isCancelled = false

  @usableFromInline init(_ name: StaticString, _ down: ErasedSubscriber<Output, Failure>) {
    self.name = name
    self.down = down
    gate = ThreadGate()
    entry = GateEntry(gate)
    super.init()
    // Without a home, several threads may use it.
    if !gate.isHomed { confinement = .anywhere }
  }

  /// The subscriber requests this much more.
  @usableFromInline func demanded(_ demand: Subscribers.Demand) {}

  /// Cancels the upstreams and releases the waiting values: the stream is cancelled or about to complete. It runs again
  /// when a stream that is over is cancelled.
  @usableFromInline func cancelUpstreams() {}

  // MARK: The subscriber's side

  @usableFromInline override var takesNone: Bool { !isActive }

  @usableFromInline final override func requested(_ demand: Subscribers.Demand) {
    guard entry.enter() else { return gate.perform { [self] in demanded(demand) } }
    demanded(demand)
    entry.leave()
  }

  @usableFromInline final override func cancelled() {
    guard entry.enter() else { return gate.revoke { [self] in cancelHere() } }
    cancelHere()
    entry.leave()
  }

  private func cancelHere() {
    isActive = false
    isCancelled = true
    cancelUpstreams()
  }

  /// Cancels what is still running and delivers the completion, once.
  @inlinable final func end(_ completion: Subscribers.Completion<Failure>) {
    guard isActive else { return }
    isActive = false
    cancelUpstreams()
    // The subscriber may have cancelled in the meantime.
    if !isCancelled { down.receive(completion: completion) }
  }

  /// Without a home, it delivers on the thread that finds it free.
  @usableFromInline final override var _isConfined: Bool { gate.isHomed }
  @usableFromInline final override var isShared: Bool { gate.isShared.load(ordering: .relaxed) }

  @usableFromInline override func tell(_ facts: inout StreamFacts) {
    facts.delivers(to: down)
    facts.demand = demand
    facts.isOver = !isActive
  }

  // MARK: Descriptions

  @usableFromInline final override var description: String { "\(name)" }
}

extension Junction: Traceable {
  @usableFromInline var below: Any { down.subscriber }
}
