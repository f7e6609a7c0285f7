/// Subscribes to one upstream at a time; the next upstream takes over the demand that the previous one has not served.
/// The base of `append`, `switchToLatest`, and every operator that subscribes again.
///
/// A subclass decides in `ended` what follows an upstream's completion. If an upstream completes while the stage
/// subscribes to it, the subscribing loop starts the next one, so that the stack stays flat.
@usableFromInline class SequentialStage<Output, Failure: Error>: Junction<Output, Failure> {
  @usableFromInline typealias Upstream = Inlet<SequentialPort<Output, Failure>>

  /// True when a value has been delivered.
  @exclusivity(unchecked) @usableFromInline final var hasDelivered = false
  @exclusivity(unchecked) @usableFromInline final var current: Upstream?
  @exclusivity(unchecked) @usableFromInline final var upcoming: ((Upstream) -> Void)?
  @exclusivity(unchecked) @usableFromInline final var isSubscribing = false
  /// Set by ``ended(_:)`` to subscribe to `upcoming`: its caller does that, because it is specialized.
  @exclusivity(unchecked) @usableFromInline final var startsUpcoming = false
  /// The alarm that ends a pause between two upstreams.
  @exclusivity(unchecked) private final var alarm: Alarm?

  /// Cancels the current upstream and subscribes to another.
  @inlinable final func subscribe(_ attach: @escaping (Upstream) -> Void) {
    // Call `subscribeHere`, because `subscribe` would try to enter the gate again.
    guard entry.enter() else { return gate.perform { [self] in subscribeHere(attach) } }
    subscribeHere(attach)
    entry.leave()
  }

  @inlinable final func subscribeHere(_ attach: @escaping (Upstream) -> Void) {
    guard isActive else { return }
    // Set this before the cancellation, which may call back to set a newer upstream or to cancel this stage.
    let old = exchange(&upcoming, with: attach)
    current.take()?.cancel()
    if !isSubscribing { subscribeToUpcoming() }
    discard(old)
  }

  @inlinable final func subscribeToUpcoming() {
    isSubscribing = true
    while isActive, let attach = upcoming {
      upcoming = nil
      let inlet = Upstream(self)
      current = inlet
      gate.atHome { attach(inlet) }
    }
    isSubscribing = false
  }

  /// Subscribes when `alarm` fires, unless cancelled first.
  @usableFromInline final func subscribe(_ attach: @escaping (Upstream) -> Void, at alarm: Alarm) {
    guard isActive else { return }
    self.alarm = alarm
    alarm.fire(within: gate)
    gate.run { [self] in alarm.set { [self] in subscribe(attach) } }
  }

  // MARK: Upstream

  /// Called when the current upstream has accepted the subscriber; requests the outstanding demand.
  @inlinable func began(_ inlet: Upstream) {
    guard isActive, inlet === current else { return inlet.cancel() }
    if demand > .none { inlet.request(demand) }
  }

  @inlinable final func pass(_ value: Output) -> Subscribers.Demand {
    guard isActive, demand > .none else { return refuse(value) }
    demand.takeOne()
    hasDelivered = true
    let more = down.receive(value)
    demand += more
    return more
  }

  /// Returns the further demand for `inlet`, which has just delivered a value. If another upstream has replaced
  /// `inlet`, requests the demand from that upstream instead. If there is no other upstream yet, the next one receives
  /// the demand when it begins.
  @inlinable final func ask(_ more: Subscribers.Demand, insteadOf inlet: Upstream) -> Subscribers.Demand {
    if inlet === current { return more }
    current?.request(more)
    return .none
  }

  /// Drops and reports a value beyond the demand.
  @inline(never) @usableFromInline final func refuse(_ value: Output) -> Subscribers.Demand {
    if isActive { StreamDiagnostics.dropped(value, name, .noDemand) }
    return .none
  }

  /// Called when the current upstream has completed.
  @inlinable func ended(_ completion: Subscribers.Completion<Failure>) { end(completion) }

  /// True if, while this stage runs, a subscription that an upstream sends after its completion is ignored instead of
  /// cancelled.
  @usableFromInline var leavesLate: Bool { false }

  @inlinable final func endedCurrent(_ completion: Subscribers.Completion<Failure>, _ inlet: Upstream) {
    guard isActive, inlet === current else { return }
    current = nil
    ended(completion)
    if startsUpcoming {
      startsUpcoming = false
      subscribeToUpcoming()
    }
    inlet.leavesLate = isActive && leavesLate
  }

  // MARK: Downstream

  /// Allows requests for zero values, as Combine's `append` does.
  @usableFromInline override var takesNone: Bool { true }

  @inlinable override func requested(_ demand: Subscribers.Demand) {
    self.demand += demand
    current?.request(demand)
  }

  @usableFromInline override func tell(_ facts: inout StreamFacts) {
    super.tell(&facts)
    facts.upstreams = current?.visible ?? []
    facts.waitsForTime = current == nil && alarm?.isSet == true
  }

  @usableFromInline override func cancelUpstreams() {
    // In unspecialized code, `take()` would look up the type of what it takes.
    if upcoming != nil { dropUpcoming() }
    if let current {
      self.current = nil
      current.cancel()
    }
    alarm?.cancel()
  }

  @inline(never) private func dropUpcoming() { discard(upcoming.take()) }
}

@usableFromInline enum SequentialPort<Output, Failure: Error>: Port {
  @usableFromInline typealias Input = Output
  @usableFromInline typealias Owner = SequentialStage<Output, Failure>

  @inlinable static func began(_ inlet: Inlet<Self>) { inlet.owner.began(inlet) }
  @inlinable static func receive(_ input: Output, _ inlet: Inlet<Self>) -> Subscribers.Demand {
    let more = inlet.owner.pass(input)
    return more > .none ? inlet.owner.ask(more, insteadOf: inlet) : more
  }
  @inlinable static func ended(_ completion: Subscribers.Completion<Failure>, _ inlet: Inlet<Self>) {
    inlet.owner.endedCurrent(completion, inlet)
  }
  @inlinable static func takesStray(afterEnding: Bool) -> Bool { !afterEnding }
  @inlinable static var isMain: Bool { true }
  /// The stage's identifier: upstream sees the stage and its inlet as one subscriber.
  @usableFromInline static func identifier(of inlet: Inlet<Self>) -> CombineIdentifier { inlet.owner.combineIdentifier }
}
