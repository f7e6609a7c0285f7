/// Moves the part of a stream above it to a queue: the stage of `subscribe(on:)` on a `QueueScheduler`.
///
/// Upstream and the part below live in one lane, which runs on the queue: all calls to upstream and all of its
/// deliveries happen there. Unlike with other schedulers, the subscriber receives its subscription immediately.
@usableFromInline final class SubscribeOnQueueStage<Input, Failure: Error>: GuardedSubscription, Subscriber {
  private let down: ErasedSubscriber<Input, Failure>
  private let lane: SerialLane
  private let surroundings: (any StreamDomain)?

  // Used in the lane.
  @exclusivity(unchecked) private var up: (any Subscription)?
  /// The demand that was requested before upstream's subscription arrived.
  @exclusivity(unchecked) private var demand = Subscribers.Demand.none
  @exclusivity(unchecked) private var isLive = true

  @usableFromInline init<Context: Scheduler>(
    _ down: ErasedSubscriber<Input, Failure>, on queue: Context, options: Context.SchedulerOptions?
  ) {
    CurrentDomain.noteQueue()
    self.down = down
    surroundings = Home.current?.reference
    lane = queue.newLane(options, holder: Home.holder)
    super.init()
    // Any thread may request values and cancel: both are moved to the lane.
    confinement = .anywhere
  }

  @usableFromInline func subscribe(_ attach: @escaping () -> Void) {
    lane.begin(at: surroundings) { down.receive(subscription: self) }
    lane.post { [self] in if isLive { attach() } }
  }

  @usableFromInline func receive(subscription: any Subscription) {
    guard up == nil, isLive else { return subscription.cancel() }
    up = subscription
    if demand > .none { subscription.request(demand) }
  }

  @usableFromInline func receive(_ input: Input) -> Subscribers.Demand {
    isLive && (lane.currentSignals.isDisjoint(with: [.revoked, .hasCancellation]) || isWanted())
      ? down.receive(input) : .none
  }

  /// Runs the cancellations that wait in the lane. Upstream may be a sequence that delivers all its values in one piece
  /// of work, which a cancellation from another thread couldn't stop otherwise.
  ///
  /// - Returns: false if the stream has been cancelled.
  @inline(never) private func isWanted() -> Bool {
    if lane.isHere { lane.performHere(lane.runWaitingCancellations) }
    return isLive && !lane.isOver
  }

  @usableFromInline func receive(completion: Subscribers.Completion<Failure>) {
    guard isLive, !lane.isOver else { return }
    isLive = false
    discard(up.take())
    down.receive(completion: completion)
  }

  override var takesNone: Bool { true }

  override func requested(_ demand: Subscribers.Demand) {
    guard lane.isHere else { return lane.post { [self] in requested(demand) } }
    guard isLive else { return }
    if let up { up.request(demand) } else { self.demand += demand }
  }

  override func cancelled() {
    guard lane.isHere else { return lane.revoke { [self] in cancelled() } }
    isLive = false
    up.take()?.cancel()
  }

  override func tell(_ facts: inout StreamFacts) {
    facts.upstreams = [up].compactMap { $0 }
    facts.delivers(to: down)
    facts.isOver = !isLive
  }

  override var description: String { "SubscribeOn" }
}
