/// Any number of upstreams, each with a place of its own in what is delivered: what `zip` and `combineLatest` of a
/// collection, and of any number of publishers of different types, share.
///
/// Each upstream has a `Lane` that keeps its values; `assemble`, formed where the lanes' types are known, makes a value
/// of what is at their heads. **Demand:** passes to every upstream; what is delivered is counted against it.
@usableFromInline
final class LaneStage<Output, Failure: Error>: Subscription, CustomStringConvertible,
  CustomPlaygroundDisplayConvertible, CustomReflectable
{
  @usableFromInline
  let rule: LaneRule
  @usableFromInline
  let down: Downstream<Output, Failure>
  @exclusivity(unchecked)
  private var assemble: (() -> Output)?
  @exclusivity(unchecked)
  private var lanes: ContiguousArray<AnyLane> = []
  /// How many lanes have nothing to give.
  @exclusivity(unchecked)
  private var vacant = 0
  /// Whether something has arrived that has not been delivered.
  @exclusivity(unchecked)
  private var isFresh = false
  @exclusivity(unchecked)
  private var demand = Subscribers.Demand.none
  @exclusivity(unchecked)
  private var isActive = true
  @exclusivity(unchecked)
  private var isDelivering = false

  @usableFromInline
  init(_ rule: LaneRule, _ down: Downstream<Output, Failure>) {
    self.rule = rule
    self.down = down
  }

  @usableFromInline
  func newLane<Value>(of _: Value.Type = Value.self) -> Lane<Value, Output, Failure> {
    let lane = Lane<Value, Output, Failure>(self)
    lanes.append(lane)
    vacant += 1
    return lane
  }

  /// Tells the subscriber and subscribes to the upstreams, all of which have their lane by now.
  @usableFromInline
  func start(_ upstreams: [() -> Void], assemble: @escaping () -> Output) {
    self.assemble = assemble
    down.receive(subscription: self)
    for attach in upstreams where isActive { attach() }
    if upstreams.isEmpty, isActive { end(.finished) }
  }

  // MARK: Upstream

  fileprivate func began(_ lane: AnyLane) {
    if demand > .none { lane.up?.request(demand) }
  }

  fileprivate func received(_ lane: AnyLane, wasVacant: Bool) -> Subscribers.Demand {
    if wasVacant { vacant -= 1 }
    isFresh = true
    let more = deliver()
    guard more > .none else { return .none }
    for other in lanes where other !== lane && isActive { other.up?.request(more) }
    return isActive ? more : .none
  }

  /// Delivers what there is, and returns what more the subscriber wants. What arrives meanwhile waits for this loop.
  private func deliver() -> Subscribers.Demand {
    guard !isDelivering else { return .none }
    isDelivering = true
    var more = Subscribers.Demand.none
    while isActive, isFresh, vacant == 0, demand > .none, let assemble {
      if demand != .unlimited { demand -= 1 }
      let value = assemble()
      if rule == .latest { isFresh = false } else { vacant = lanes.count { $0.isVacant } }
      let asked = down.next(value)
      demand += asked
      more += asked
    }
    isDelivering = false
    finishIfDone()
    return isActive ? more : .none
  }

  private func finishIfDone() {
    guard isActive, !isDelivering else { return }
    // A lane that has ended with nothing to give lets nothing more come.
    let isDone =
      lanes.contains { $0.isEnded && $0.isVacant }
      || rule == .latest && !isFresh && lanes.allSatisfy(\.isEnded)
    if isDone { end(.finished) }
  }

  fileprivate func ended(_ completion: Subscribers.Completion<Failure>) {
    guard isActive else { return }
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

  @usableFromInline
  func request(_ demand: Subscribers.Demand) {
    demand.assertPositive(self)
    guard isActive else { return }
    self.demand += demand
    let more = demand + deliver()
    for lane in lanes where isActive { lane.up?.request(more) }
  }

  @usableFromInline
  func cancel() {
    guard isActive else { return }
    isActive = false
    assemble = nil
    let lanes = self.lanes
    self.lanes = []
    for lane in lanes { lane.close()?.cancel() }
  }

  @usableFromInline
  var description: String { rule == .all ? "Zip" : "CombineLatest" }
  @usableFromInline
  var playgroundDescription: Any { description }
  @usableFromInline
  var customMirror: Mirror { Mirror(self, children: EmptyCollection()) }
}

/// What a lane keeps: every value until it is used, or the latest, used again and again.
@usableFromInline
enum LaneRule { case all, latest }

/// What a stage needs to know of a lane.
@usableFromInline
class AnyLane {
  @exclusivity(unchecked)
  fileprivate final var up: (any Subscription)?
  @exclusivity(unchecked)
  fileprivate final var isEnded = false

  fileprivate var isVacant: Bool { true }

  /// Reports what it keeps and will not give.
  fileprivate func dropRest() {}

  /// Takes no more, and returns the subscription it had.
  fileprivate func close() -> (any Subscription)? {
    let up = self.up
    self.up = nil
    isEnded = true
    return up
  }
}

/// The subscription to one upstream, and its values.
@usableFromInline
final class Lane<Value, Output, Failure: Error>: AnyLane, Subscriber, CustomStringConvertible {
  fileprivate let stage: LaneStage<Output, Failure>
  @exclusivity(unchecked)
  private var values = FIFO<Value>()

  fileprivate init(_ stage: LaneStage<Output, Failure>) { self.stage = stage }

  @usableFromInline
  func receive(subscription: any Subscription) {
    guard up == nil, !isEnded else { return subscription.cancel() }
    up = subscription
    stage.began(self)
  }

  @usableFromInline
  func receive(_ input: Value) -> Subscribers.Demand {
    guard up != nil else { return .none }
    let wasVacant = values.isEmpty
    if stage.rule == .latest { _ = values.popFirst() }
    values.append(input)
    return stage.received(self, wasVacant: wasVacant)
  }

  @usableFromInline
  func receive(completion: Subscribers.Completion<Failure>) {
    guard up != nil else { return }
    up = nil
    isEnded = true
    stage.ended(completion)
  }

  /// What this lane contributes; there is something.
  @usableFromInline
  func take() -> Value { stage.rule == .all ? values.popFirst()! : values[0] }

  override fileprivate var isVacant: Bool { values.isEmpty }

  override fileprivate func dropRest() {
    while let value = values.popFirst() { StreamDiagnostics.dropped(value, "Zip", .terminated) }
  }

  override fileprivate func close() -> (any Subscription)? {
    values.removeAll()
    return super.close()
  }

  @usableFromInline
  var description: String { stage.description }
}
