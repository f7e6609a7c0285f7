/// A stage whose subscriber is told of its subscription before upstream is: what it asks for, or that it cancels, is kept
/// until upstream accepts.
@usableFromInline class DeferredRequestStage<Output, Failure: Error>: Stage<Output, Failure> {
  /// To be asked of upstream once it accepts.
  @exclusivity(unchecked) @usableFromInline final var pending = Subscribers.Demand.none

  /// Tells the subscriber. To be called before subscribing to upstream.
  @usableFromInline final func greet() { down.receive(subscription: self) }

  override func began() {
    let demand = pending
    pending = .none
    if demand > .none { up?.request(demand) }
  }

  override func requested(_ demand: Subscribers.Demand) {
    switch phase {
    case .waiting, .ended: pending += demand
    case .live: up?.request(demand)
    case .draining: break
    }
  }

  override func cancelled() {
    guard phase == .waiting else { return super.cancelled() }
    phase = .ended
  }
}
