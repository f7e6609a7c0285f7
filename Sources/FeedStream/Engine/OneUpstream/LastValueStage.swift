/// A stage that may have one value to deliver after upstream has ended: it does so as soon as the subscriber has asked
/// for it, and then finishes.
///
/// As in Combine, finishing without a value waits for the request as well where one might have come.
@usableFromInline class LastValueStage<Output, Failure: Error>: Stage<Output, Failure> {
  private var last: Output?
  /// Upstream has ended, the subscriber has not asked yet.
  private var isWaiting = false

  /// Ends with `value`, if any, at once when `isAsked`, and otherwise upon the next request.
  ///
  /// - Parameter cancelling: upstream has not ended by itself.
  @usableFromInline final func finish(with value: Output?, isAsked: Bool, cancelling: Bool = false) {
    guard phase == .live else { return }
    phase = .draining
    let up = self.up.take()
    if cancelling { up?.cancel() }
    guard phase == .draining else { return }
    guard !isAsked else { return deliver(value) }
    last = value
    isWaiting = true
  }

  private func deliver(_ value: Output?) {
    if let value { _ = down.receive(value) }
    // The subscriber may have cancelled meanwhile.
    guard phase == .draining else { return }
    phase = .ended
    down.receive(completion: .finished)
  }

  @usableFromInline override func requested(_ demand: Subscribers.Demand) {
    guard phase == .draining else {
      asked(for: demand)
      return
    }
    guard isWaiting else { return }
    isWaiting = false
    deliver(last.take())
  }

  /// The subscriber asked for values while upstream may deliver some.
  @usableFromInline func asked(for demand: Subscribers.Demand) { up?.request(demand) }

  override func cancelled() {
    super.cancelled()
    if phase == .ended { last = nil }
  }
}

/// A ``LastValueStage`` that delivers values before the last, as asked for.
@usableFromInline class ValuesAndLastStage<Output, Failure: Error>: LastValueStage<Output, Failure> {
  /// Asked for and not yet delivered.
  @exclusivity(unchecked) @usableFromInline final var demand = Subscribers.Demand.none

  @inlinable override init(_ down: ErasedSubscriber<Output, Failure>) { super.init(down) }

  /// Delivers a value that upstream was asked for.
  ///
  /// - Returns: what upstream is asked for in the answer.
  @inlinable final func pass(_ value: Output) -> Subscribers.Demand {
    demand.takeOne(for: self)
    let more = down.receive(value)
    guard more > .none else { return .none }
    // It may have ended while the value was being delivered.
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
}
