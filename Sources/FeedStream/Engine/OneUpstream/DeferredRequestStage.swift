/// A stage that delivers its subscription before upstream's has arrived; until then, it holds requests and a
/// cancellation.
@usableFromInline class DeferredRequestStage<Output, Failure: Error>: Stage<Output, Failure> {
  /// The demand to request from upstream once its subscription arrives.
  @exclusivity(unchecked) @usableFromInline final var pending = Subscribers.Demand.none

  private final var hasGreeted = false
  /// True while the subscriber receives its subscription after upstream's has arrived; requests are held meanwhile.
  private final var isGreeting = false

  /// Delivers the subscription. Call this before subscribing to upstream.
  @usableFromInline final func greet() {
    hasGreeted = true
    down.receive(subscription: self)
  }

  override func began() {
    if !hasGreeted {
      isGreeting = true
      greet()
      isGreeting = false
    }
    let demand = pending
    pending = .none
    if demand > .none { up?.request(demand) }
  }

  override func requested(_ demand: Subscribers.Demand) {
    switch phase {
    case .waiting, .ended: pending += demand
    case .begun, .live: if isGreeting { pending += demand } else { up?.request(demand) }
    case .draining: break
    }
  }

  override func cancelled() {
    guard phase == .waiting else { return super.cancelled() }
    phase = .ended
  }
}
