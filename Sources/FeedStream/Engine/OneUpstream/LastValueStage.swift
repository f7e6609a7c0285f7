/// A stage that may have one value to deliver after upstream's completion: it delivers the value once the subscriber
/// has requested it, and then finishes.
///
/// As in Combine, the stage waits for the request even if it finishes without a value, as long as a value was possible.
@usableFromInline class LastValueStage<Output, Failure: Error>: Stage<Output, Failure> {
  /// The value, while it waits for demand. A subclass may keep the value that it computes here, too: in unspecialized
  /// code, such as a `deinit`, each property of this type takes a look-up of the type.
  @exclusivity(unchecked) @usableFromInline final var last: Output?
  /// True if upstream has completed or was cancelled, and there is no demand yet.
  @exclusivity(unchecked) @usableFromInline final var isWaiting = false

  /// Finishes with `value`, if any: immediately if `isAsked` is true, otherwise on the next request.
  ///
  /// - Parameter cancelling: true if upstream has not completed and must be cancelled.
  @inlinable final func finish(with value: Output?, isAsked: Bool, cancelling: Bool = false) {
    guard isLive else { return }
    phase = .draining
    let up = self.up.take()
    if cancelling { up?.cancel() }
    guard phase == .draining else { return }
    guard !isAsked else { return deliver(value) }
    last = value
    isWaiting = true
  }

  @inlinable final func deliver(_ value: Output?) {
    if let value { _ = down.receive(value) }
    // The subscriber may have cancelled in the meantime.
    guard phase == .draining else { return }
    phase = .ended
    down.receive(completion: .finished)
  }

  @usableFromInline override func requested(_ demand: Subscribers.Demand) {
    guard phase == .draining else {
      asked(for: demand)
      return
    }
    if isWaiting { deliverLast() }
  }

  // A function of its own, so that other requests, which aren't specialized, don't look up the type of the value.
  @inline(never) private func deliverLast() {
    isWaiting = false
    deliver(last.take())
  }

  /// Called when the subscriber requests values and upstream may still deliver some.
  @usableFromInline func asked(for demand: Subscribers.Demand) { up?.request(demand) }

  override func forget() { if isWaiting { forgetLast() } }

  @inline(never) final func forgetLast() { discard(last.take()) }

  @usableFromInline override func tell(_ facts: inout StreamFacts) {
    super.tell(&facts)
    guard isWaiting else { return }
    facts.demand = Subscribers.Demand.none
    facts.held = last == nil ? 0 : 1
  }
}

/// A ``LastValueStage`` that also delivers earlier values on demand.
@usableFromInline class ValuesAndLastStage<Output, Failure: Error>: LastValueStage<Output, Failure> {
  /// The demand that has been requested but not served yet.
  @exclusivity(unchecked) @usableFromInline final var demand = Subscribers.Demand.none

  @inlinable override init(_ down: ErasedSubscriber<Output, Failure>) { super.init(down) }

  /// Delivers a value that was requested from upstream.
  ///
  /// - Returns: the subscriber's further demand, to return to upstream.
  @inlinable final func pass(_ value: Output) -> Subscribers.Demand {
    demand.takeOne(for: self)
    let more = down.receive(value)
    guard more > .none else { return .none }
    // The stream may have completed while the value was being delivered.
    guard isLive else {
      requested(more)
      return .none
    }
    demand += more
    return more
  }

  final override func asked(for demand: Subscribers.Demand) {
    guard isLive else { return }
    self.demand += demand
    up?.request(demand)
  }

  @usableFromInline override func tell(_ facts: inout StreamFacts) {
    super.tell(&facts)
    if isLive { facts.demand = demand }
  }
}
