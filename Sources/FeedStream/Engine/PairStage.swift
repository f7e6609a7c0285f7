/// Two upstreams of different types into one subscriber: what `zip` and `combineLatest` share.
///
/// A subclass says what it keeps of a value (`take`), when that makes something to deliver (`next`), and when nothing
/// more can come (`isDone`). **Demand:** passes to both upstreams; what is delivered is counted against it all the same,
/// so that an upstream that sends too much does not reach the subscriber with it.
@usableFromInline
class PairStage<A, B, Output, Failure: Error>: Subscription, CustomStringConvertible,
  CustomPlaygroundDisplayConvertible, CustomReflectable
{
  @usableFromInline
  final let name: StaticString
  @usableFromInline
  final let down: Downstream<Output, Failure>
  @exclusivity(unchecked)
  @usableFromInline
  final private(set) var first: Inlet<FirstPort<A, B, Output, Failure>>!
  @exclusivity(unchecked)
  @usableFromInline
  final private(set) var second: Inlet<SecondPort<A, B, Output, Failure>>!
  @exclusivity(unchecked)
  @usableFromInline
  final var demand = Subscribers.Demand.none
  @exclusivity(unchecked)
  @usableFromInline
  final var isActive = true
  @exclusivity(unchecked)
  @usableFromInline
  final var isDelivering = false

  @usableFromInline
  init(_ name: StaticString, _ down: Downstream<Output, Failure>) {
    self.name = name
    self.down = down
    first = Inlet(self)
    second = Inlet(self)
  }

  // MARK: What a subclass says

  @usableFromInline
  func take(first value: A) {}
  @usableFromInline
  func take(second value: B) {}
  /// Something to deliver, taken from what is kept.
  @usableFromInline
  func next() -> Output? { nil }
  @usableFromInline
  var isDone: Bool { true }
  /// Lets go of what is kept.
  @usableFromInline
  func discard() {}

  // MARK: Upstream

  /// The subscriber is told once both upstreams have accepted.
  @usableFromInline
  final func began() {
    guard isActive else { return cancelInlets() }
    if first.isLive || first.isEnded, second.isLive || second.isEnded { down.receive(subscription: self) }
  }

  /// Delivers what there is and returns what more the subscriber wants.
  ///
  /// A value that arrives while another is delivered waits for the loop that is delivering; the order is kept and the
  /// stack stays flat.
  @inlinable
  final func deliver() -> Subscribers.Demand {
    guard !isDelivering else { return .none }
    isDelivering = true
    var more = Subscribers.Demand.none
    while isActive, demand > .none, let value = next() {
      if demand != .unlimited { demand.rawValue &-= 1 }
      let asked = down.next(value)
      demand += asked
      more += asked
    }
    isDelivering = false
    finishIfDone()
    return isActive ? more : .none
  }

  @usableFromInline
  final func finishIfDone() {
    if isActive, !isDelivering, isDone { end(.finished) }
  }

  @usableFromInline
  final func ended(_ completion: Subscribers.Completion<Failure>) {
    guard isActive else { return }
    switch completion {
    case .finished: finishIfDone()
    case .failure: end(completion)
    }
  }

  @usableFromInline
  final func end(_ completion: Subscribers.Completion<Failure>) {
    isActive = false
    discard()
    // The ending first: cancelling may come back here.
    down.receive(completion: completion)
    cancelInlets()
  }

  // MARK: Downstream

  @usableFromInline
  final func request(_ demand: Subscribers.Demand) {
    demand.assertPositive(self)
    guard isActive else { return }
    self.demand += demand
    let more = demand + deliver()
    if isActive { first.request(more) }
    if isActive { second.request(more) }
  }

  @usableFromInline
  final func cancel() {
    guard isActive else { return }
    isActive = false
    discard()
    cancelInlets()
  }

  private func cancelInlets() {
    first.cancel()
    second.cancel()
  }

  @usableFromInline
  final var description: String { "\(name)" }
  @usableFromInline
  final var playgroundDescription: Any { description }
  @usableFromInline
  final var customMirror: Mirror { Mirror(self, children: EmptyCollection()) }
}

@usableFromInline
enum FirstPort<A, B, Output, Failure: Error>: Port {
  @usableFromInline
  typealias Input = A
  @usableFromInline
  typealias Owner = PairStage<A, B, Output, Failure>

  @usableFromInline
  static func began(_ inlet: Inlet<Self>) { inlet.owner.began() }
  @inlinable
  static func receive(_ input: A, _ inlet: Inlet<Self>) -> Subscribers.Demand {
    let stage = inlet.owner
    stage.take(first: input)
    let more = stage.deliver()
    if more > .none { stage.second.request(more) }
    return more
  }
  @usableFromInline
  static func ended(_ completion: Subscribers.Completion<Failure>, _ inlet: Inlet<Self>) {
    inlet.owner.ended(completion)
  }
}

@usableFromInline
enum SecondPort<A, B, Output, Failure: Error>: Port {
  @usableFromInline
  typealias Input = B
  @usableFromInline
  typealias Owner = PairStage<A, B, Output, Failure>

  @usableFromInline
  static func began(_ inlet: Inlet<Self>) { inlet.owner.began() }
  @inlinable
  static func receive(_ input: B, _ inlet: Inlet<Self>) -> Subscribers.Demand {
    let stage = inlet.owner
    stage.take(second: input)
    let more = stage.deliver()
    if more > .none { stage.first.request(more) }
    return more
  }
  @usableFromInline
  static func ended(_ completion: Subscribers.Completion<Failure>, _ inlet: Inlet<Self>) {
    inlet.owner.ended(completion)
  }
}
