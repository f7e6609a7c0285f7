/// Any number of upstreams, each with a place of its own in what is delivered: what `zip` and `combineLatest` of a
/// collection, and of any number of publishers of different types, share.
///
/// Each upstream has a `Lane` that keeps its values; `assemble`, formed where the lanes' types are known, makes a value
/// of what is at their heads. **Demand:** passes to every upstream; what is delivered is counted against it.
@usableFromInline
final class LaneStage<Output, Failure: Error>: Subscription, CustomStringConvertible,
  CustomPlaygroundDisplayConvertible, CustomReflectable
{
  @usableFromInline let rule: LaneRule
  @usableFromInline let down: ErasedSubscriber<Output, Failure>
  @exclusivity(unchecked) @usableFromInline var assemble: (() -> Output)?
  @exclusivity(unchecked) @usableFromInline var lanes: ContiguousArray<AnyLane> = []
  /// How many lanes have nothing to give.
  @exclusivity(unchecked) @usableFromInline var vacant = 0
  /// Whether something has arrived that has not been delivered.
  @exclusivity(unchecked) @usableFromInline var isFresh = false
  @exclusivity(unchecked) @usableFromInline var demand = Subscribers.Demand.none
  @exclusivity(unchecked) @usableFromInline var isActive = true
  @exclusivity(unchecked) @usableFromInline var isDelivering = false
  /// Whether an upstream has ended.
  @exclusivity(unchecked) @usableFromInline var hasEnding = false

  @inlinable init(_ rule: LaneRule, _ down: ErasedSubscriber<Output, Failure>) {
    self.rule = rule
    self.down = down
  }

  @inlinable func newLane<Value>(of _: Value.Type = Value.self) -> Lane<Value, Output, Failure> {
    let lane = Lane<Value, Output, Failure>(self)
    lanes.append(lane)
    vacant += 1
    return lane
  }

  /// Tells the subscriber and subscribes to the upstreams, all of which have their lane by now.
  @usableFromInline func start(_ upstreams: [() -> Void], assemble: @escaping () -> Output) {
    self.assemble = assemble
    down.receive(subscription: self)
    for attach in upstreams where isActive { attach() }
    if upstreams.isEmpty, isActive { end(.finished) }
  }

  // MARK: Upstream

  @usableFromInline func began(_ lane: AnyLane) {
    if demand > .none { lane.up?.request(demand) }
  }

  @inlinable func received(_ lane: AnyLane) -> Subscribers.Demand {
    if lane.isVacant {
      lane.isVacant = false
      vacant &-= 1
    }
    isFresh = true
    let more = deliver()
    guard more > .none else { return .none }
    for other in lanes where other !== lane && isActive { other.up?.request(more) }
    return isActive ? more : .none
  }

  /// Delivers what there is, and returns what more the subscriber wants. What arrives meanwhile waits for this loop.
  @inlinable func deliver() -> Subscribers.Demand {
    guard !isDelivering else { return .none }
    isDelivering = true
    var more = Subscribers.Demand.none
    while isActive, isFresh, vacant == 0, demand > .none, let assemble {
      demand.takeOne()
      let value = assemble()
      if rule == .latest { isFresh = false } else { vacant = lanes.count { $0.isVacant } }
      let asked = down.receive(value)
      if asked > .none {
        demand += asked
        more += asked
      }
    }
    isDelivering = false
    if hasEnding { finishIfDone() }
    return isActive ? more : .none
  }

  @usableFromInline func finishIfDone() {
    guard isActive, !isDelivering else { return }
    // A lane that has ended with nothing to give lets nothing more come.
    let isDone =
      lanes.contains { $0.isEnded && $0.isVacant }
      || rule == .latest && !isFresh && lanes.allSatisfy(\.isEnded)
    if isDone { end(.finished) }
  }

  @usableFromInline func ended(_ completion: Subscribers.Completion<Failure>) {
    guard isActive else { return }
    hasEnding = true
    switch completion {
    case .finished: finishIfDone()
    case .failure: end(completion)
    }
  }

  private func end(_ completion: Subscribers.Completion<Failure>) {
    guard isActive else { return }
    if rule == .all { for lane in lanes { lane.dropRest() } }
    cancel()
    down.receive(completion: completion)
  }

  // MARK: Downstream

  @usableFromInline func request(_ demand: Subscribers.Demand) {
    demand.assertPositive(self)
    guard isActive else { return }
    self.demand += demand
    let more = demand + deliver()
    for lane in lanes where isActive { lane.up?.request(more) }
  }

  @usableFromInline func cancel() {
    guard isActive else { return }
    isActive = false
    assemble = nil
    let lanes = self.lanes
    self.lanes = []
    for lane in lanes { lane.close()?.cancel() }
  }

  @usableFromInline var description: String { rule == .all ? "Zip" : "CombineLatest" }
  @usableFromInline var playgroundDescription: Any { description }
  @usableFromInline var customMirror: Mirror { Mirror(self, children: EmptyCollection()) }
}

/// What a lane keeps: every value until it is used, or the latest, used again and again.
@usableFromInline enum LaneRule { case all, latest }

extension LaneStage {
  @inlinable func start<P: Publisher>(_ publishers: [P]) where Output == [P.Output], P.Failure == Failure {
    let lanes = publishers.map { _ in newLane(of: P.Output.self) }
    start(
      publishers.indices.map { index in { publishers[index].receive(subscriber: lanes[index]) } },
      assemble: { lanes.map { $0.take() } })
  }
}

extension LaneStage: Traceable {
  @usableFromInline var below: Any { down.subscriber }
}
