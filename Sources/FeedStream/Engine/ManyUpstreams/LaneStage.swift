/// Combines any number of upstreams, each with its own position in the delivered values: the stage of `zip` and
/// `combineLatest` for three or more publishers, for a collection, and for any number of publishers of different types.
///
/// Each upstream has a ``Lane`` that keeps its values. `assemble`, which is created where the lanes' types are known,
/// combines the first value of each. The stage counts the lanes in each state, so that it can handle a completion or a
/// value of one lane without examining the others. Events are handled in the order in which they arrive; those that
/// arrive during a delivery come after it.
///
/// **Demand:** passes to every upstream. A request made while a value is being delivered is returned to the upstream
/// that delivers.
@usableFromInline final class LaneStage<Output, Failure: Error>: Junction<Output, Failure> {
  @usableFromInline let rule: JoinRule
  @exclusivity(unchecked) @usableFromInline var assemble: (() -> Output)?
  @exclusivity(unchecked) @usableFromInline var lanes: ContiguousArray<AnyInlet> = []
  /// The number of lanes that have no value.
  @exclusivity(unchecked) @usableFromInline var vacant = 0
  /// The number of lanes that have not ended.
  @exclusivity(unchecked) @usableFromInline var running = 0
  /// True when no further value is possible: there are no lanes, or a completed lane has no value left.
  @exclusivity(unchecked) @usableFromInline var isExhausted = false
  /// True when a lane has ended.
  @exclusivity(unchecked) @usableFromInline var hasEnding = false
  /// True when a value has arrived that has not been delivered.
  @exclusivity(unchecked) @usableFromInline var isFresh = false
  /// True while a value is being delivered, and until the subscriber has its subscription: events wait in the meantime.
  @exclusivity(unchecked) @usableFromInline var isDelivering = true
  /// The demand that the subscriber requested while a value was being delivered.
  @exclusivity(unchecked) @usableFromInline var asked = Subscribers.Demand.none
  // Stored last, so that the other properties' offsets do not depend on the types of these.
  /// Combinations that were made during a delivery, for which there is demand; see ``PairStage``.
  @exclusivity(unchecked) @usableFromInline var waiting = FIFO<Output>()
  @exclusivity(unchecked) private var failure: Failure?

  @inlinable init(_ rule: JoinRule, _ down: ErasedSubscriber<Output, Failure>) {
    self.rule = rule
    super.init(rule.name, down)
  }

  @inlinable func newLane<Value>(of _: Value.Type = Value.self) -> Lane<Value, Output, Failure> {
    let lane = Lane<Value, Output, Failure>(self)
    lanes.append(lane)
    vacant += 1
    running += 1
    return lane
  }

  /// Subscribes to the upstreams and then delivers the subscription. All lanes must exist.
  @usableFromInline func start(_ upstreams: [() -> Void], assemble: @escaping () -> Output) {
    self.assemble = assemble
    isExhausted = upstreams.isEmpty
    guard entry.enter() else { return }
    for attach in upstreams { attach() }
    isDelivering = false
    down.receive(subscription: self)
    endIfDone()
    entry.leave()
  }

  // MARK: Upstream

  @inlinable func received(_ lane: AnyInlet) -> Subscribers.Demand {
    isFresh = true
    let more = deliver()
    guard more > .none else { return .none }
    for other in lanes where other !== lane && isActive { other.request(more) }
    return isActive ? more : .none
  }

  /// Delivers the values that are ready, and returns the subscriber's further demand. This loop also delivers values
  /// that arrive in the meantime.
  ///
  /// As in ``PairStage``, pairs need no check of the demand.
  @inlinable func deliver() -> Subscribers.Demand {
    guard !isDelivering else {
      if rule == .latest { hold() }
      return .none
    }
    isDelivering = true
    while isActive, !isExhausted, vacant == 0, rule == .pairing || isFresh && demand > .none, let assemble {
      isFresh = false
      pass(assemble())
      if waiting.count > 0 { deliverWaiting() }
    }
    isDelivering = false
    let asked = self.asked
    if asked > .none { self.asked = .none }
    if hasEnding { endIfDone() }
    return isActive ? asked : .none
  }

  @inlinable @inline(__always) func pass(_ value: Output) {
    demand.takeOne()
    let more = down.receive(value)
    if more > .none {
      demand += more
      asked += more
    }
  }

  /// Keeps a combination that was made during a delivery, if there is demand for it. Otherwise, the next combination
  /// may replace it.
  @inlinable @inline(never) func hold() {
    guard isFresh, vacant == 0, demand > waiting.count, let assemble else { return }
    isFresh = false
    waiting.append(assemble())
  }

  @inlinable @inline(never) func deliverWaiting() {
    while isActive, let value = waiting.popFirst() { pass(value) }
  }

  /// Called when the last value in `lane` has been taken.
  @inlinable func emptied(_ lane: AnyInlet) {
    vacant &+= 1
    if lane.isEnded { isExhausted = true }
  }

  @usableFromInline func ended(_ completion: Subscribers.Completion<Failure>, _ lane: AnyInlet) {
    hasEnding = true
    if case .failure(let error) = completion { failed(error, lane) }
    running &-= 1
    if lane.held == 0 { isExhausted = true }
    endIfDone()
  }

  /// Records the failure of one upstream, unless the completion of another already ends the stream. No value follows
  /// the failure, even while the failure waits.
  private func failed(_ error: Failure, _ lane: AnyInlet) {
    let complete = lanes.reduce(Int.max) { min($0, $1.held) }
    let isOver =
      isExhausted || rule == .pairing && lanes.contains { $0 !== lane && $0.isEnded && $0.held == complete }
    if !isOver, failure == nil { failure = error }
    guard isDelivering else { return }
    for lane in lanes { lane.cancel() }
  }

  /// Delivers the completion if it is due, unless a delivery is in progress or the subscriber has no subscription yet.
  @usableFromInline func endIfDone() {
    guard isActive, !isDelivering else { return }
    if let failure {
      stop(.failure(failure))
    } else if isExhausted || running == 0 && rule == .latest && !isFresh {
      stop(.finished)
    }
  }

  private func stop(_ completion: Subscribers.Completion<Failure>) {
    // Only pairs report dropped values: `combineLatest` replaces values by design.
    if rule == .pairing { for lane in lanes { lane.drop(reporting: true) } }
    end(completion)
  }

  // MARK: Downstream

  override func requested(_ demand: Subscribers.Demand) {
    guard isActive else { return }
    self.demand += demand
    guard !isDelivering else {
      asked += demand
      if rule == .latest { hold() }
      return
    }
    let more = demand + deliver()
    for lane in lanes where isActive { lane.request(more) }
  }

  override func tell(_ facts: inout StreamFacts) {
    super.tell(&facts)
    facts.upstreams = lanes.flatMap(\.visible)
    facts.partners = lanes.map(\.held)
    facts.held = facts.partners.reduce(waiting.count, +)
  }

  override func cancelUpstreams() {
    discard(assemble.take())
    if waiting.count > 0 { waiting.removeAll() }
    let lanes = self.lanes
    self.lanes = []
    for lane in lanes {
      lane.drop(reporting: false)
      lane.cancel()
    }
  }
}

extension LaneStage {
  @inlinable func start<P: Publisher>(_ publishers: [P]) where Output == [P.Output], P.Failure == Failure {
    let lanes = publishers.map { _ in newLane(of: P.Output.self) }
    start(
      publishers.indices.map { index in { publishers[index].receive(subscriber: lanes[index]) } },
      assemble: { lanes.map { $0.take() } })
  }

  @inlinable func start<A: Publisher, B: Publisher, C: Publisher>(_ a: A, _ b: B, _ c: C)
  where
    Output == (A.Output, B.Output, C.Output), A.Failure == Failure, B.Failure == Failure, C.Failure == Failure
  {
    let lanes = (newLane(of: A.Output.self), newLane(of: B.Output.self), newLane(of: C.Output.self))
    start(
      [{ a.receive(subscriber: lanes.0) }, { b.receive(subscriber: lanes.1) }, { c.receive(subscriber: lanes.2) }],
      assemble: { (lanes.0.take(), lanes.1.take(), lanes.2.take()) })
  }

  @inlinable func start<A: Publisher, B: Publisher, C: Publisher, D: Publisher>(_ a: A, _ b: B, _ c: C, _ d: D)
  where
    Output == (A.Output, B.Output, C.Output, D.Output), A.Failure == Failure, B.Failure == Failure,
    C.Failure == Failure, D.Failure == Failure
  {
    let lanes = (
      newLane(of: A.Output.self), newLane(of: B.Output.self), newLane(of: C.Output.self), newLane(of: D.Output.self)
    )
    start(
      [
        { a.receive(subscriber: lanes.0) }, { b.receive(subscriber: lanes.1) }, { c.receive(subscriber: lanes.2) },
        { d.receive(subscriber: lanes.3) },
      ],
      assemble: { (lanes.0.take(), lanes.1.take(), lanes.2.take(), lanes.3.take()) })
  }
}
