/// Takes a stream across to a queue: the stage of `receive(on:)` and its relatives on a `QueueScheduler`.
///
/// The part above it lives where it was subscribed: on a loop, or in a `SerialLane` where there is none. The part below
/// lives in a lane of its own, which runs on the queue: values are delivered there one at a time and in order, whatever
/// the queue does. Requests and cancellations go back to the home of what is above. So neither side takes a lock, and
/// no two threads are ever in the same part of a stream.
///
/// **Demand:** passes through. A value that has been asked for waits in the lane.
@usableFromInline final class CrossingStage<Input, Failure: Error>: GuardedSubscription, Subscriber {
  private let name: StaticString
  private let down: ErasedSubscriber<Input, Failure>
  private let lane: SerialLane
  /// The home where the stream below was subscribed; `nil` where no loop runs.
  private let surroundings: (any StreamDomain)?
  /// Runs an action for a value when its time has come.
  private let later: ((@escaping () -> Void) -> Void)?
  @usableFromInline let home: CrossedHome

  // Used in the home of what is above.
  @exclusivity(unchecked) private var up: (any Subscription)?
  @exclusivity(unchecked) private var isOpen = true
  /// The values and the ending that wait for their time, in their order.
  @exclusivity(unchecked) private var waiting = FIFO<() -> Void>()

  // Used in the lane.
  @exclusivity(unchecked) private var isLive = true

  /// - Parameter later: runs an action when a value that arrives now is due; `nil` for at once.
  @usableFromInline init<Context: Scheduler>(
    _ name: StaticString, _ down: ErasedSubscriber<Input, Failure>, on queue: Context,
    options: Context.SchedulerOptions?, later: ((@escaping () -> Void) -> Void)? = nil
  ) {
    Home.usesQueues()
    self.name = name
    self.down = down
    self.later = later
    surroundings = Home.current
    let holder = Home.isKeeping ? surroundings : nil
    lane = queue.newLane(options, holder: holder)
    home = CrossedHome(surroundings ?? SerialLane(), holder: holder, isOnMainQueue: lane.isServedByOneThread)
    super.init()
    confinement = Confinement(home: lane)
  }

  /// Subscribes to what is above, in its home.
  @usableFromInline func subscribe(_ attach: @escaping () -> Void) { home.domain?.perform(attach) }

  // MARK: Upstream, in its home

  @usableFromInline func receive(subscription: any Subscription) {
    guard up == nil, isOpen else { return subscription.cancel() }
    up = subscription
    // What is above may have crossed to a queue itself.
    if let domain = CurrentDomain.get() { home.domain = domain }
    lane.begin(at: surroundings) { down.receive(subscription: self) }
  }

  @usableFromInline func receive(_ input: Input) -> Subscribers.Demand {
    if isOpen { cross { [self] in deliver(input) } }
    return .none
  }

  @usableFromInline func receive(completion: Subscribers.Completion<Failure>) {
    guard isOpen else { return }
    isOpen = false
    up = nil
    cross { [self] in finish(completion) }
  }

  private func cross(_ action: @escaping () -> Void) {
    guard let later else { return lane.post(action) }
    waiting.append(action)
    home.hold()
    // Timers that are due together may fire in any order: each lets the first one go.
    later { [self] in
      home.domain?.perform { [self] in
        if let next = waiting.popFirst() { lane.post(next) }
        home.letGo()
      }
    }
  }

  private func ask(_ demand: Subscribers.Demand) {
    home.domain?.perform { [self] in up?.request(demand) }
  }

  // MARK: Downstream, in the lane

  private func deliver(_ input: Input) {
    guard isLive, !lane.isOver else { return }
    let more = down.receive(input)
    if more > .none, isLive { ask(more) }
  }

  private func finish(_ completion: Subscribers.Completion<Failure>) {
    guard isLive, !lane.isOver else { return }
    isLive = false
    home.leave()
    down.receive(completion: completion)
  }

  /// A request for none is passed on: the publisher that serves the demand decides what it may be.
  override var takesNone: Bool { true }

  override func requested(_ demand: Subscribers.Demand) { if isLive { ask(demand) } }

  override func cancelled() {
    guard isLive else { return }
    isLive = false
    home.domain?.perform { [self] in
      isOpen = false
      _ = waiting.take()
      up.take()?.cancel()
      home.leave()
    }
  }

  override var description: String { "\(name)" }
  override var customMirror: Mirror { mirror(["downstream": down.subscriber]) }
}

extension CrossingStage: Traceable {
  @usableFromInline var below: Any { down.subscriber }
}

extension Scheduler {
  /// True when streams cross to this, a queue: known at compile time where this is specialized.
  @inlinable var isQueue: Bool { Self._isQueue }

  /// Tells streams that are subscribed from now on that queues are used.
  @inlinable func noteQueue() { if isQueue { Home.usesQueues() } }

  /// A lane that runs on this queue.
  ///
  /// - Parameter holder: goes on running while the lane has work.
  func newLane(_ options: SchedulerOptions?, holder: (any StreamDomain)?) -> SerialLane {
    let queue = self as? any QueueScheduler
    return SerialLane(
      queue?.queueName ?? "", start: { schedule(options: options, $0) }, isOnThread: queue?.isHere, holder: holder)
  }

  /// Delivers to `subscriber` on this queue what an operator of its time delivers in its own home.
  ///
  /// - Parameter attach: subscribes the stage that it is given to the operator, which uses the other scheduler instead of
  ///   this.
  @usableFromInline func cross<Output, Failure: Error>(
    _ name: StaticString, to subscriber: ErasedSubscriber<Output, Failure>, options: SchedulerOptions? = nil,
    _ attach: @escaping (CrossingStage<Output, Failure>, HomeScheduler<Self>) -> Void
  ) {
    let stage = CrossingStage(name, subscriber, on: self, options: options)
    stage.subscribe { attach(stage, HomeScheduler(base: self, home: stage.home)) }
  }
}
