/// The ticks of a timer on a queue, which may run its work on several threads.
///
/// A lane protects the subject and the timer: their work happens there, on the calling thread or on the queue. For each
/// subscriber, the ticks cross to the queue (``CrossingStage``).
@usableFromInline final class QueueTicks<Context: Scheduler> {
  @usableFromInline typealias Tick = Context.SchedulerTimeType

  private let interval: Tick.Stride
  private let tolerance: Tick.Stride?
  private let scheduler: Context
  private let options: Context.SchedulerOptions?
  private let lane = SerialLane()
  /// Made in the lane, which is therefore its home.
  private var ticks: PassthroughSubject<Tick, Never>!

  // Used in the lane.
  private var ticker: Ticker<HomeScheduler<Context>>?
  private var connections = 0

  /// Fails if the scheduler isn't a queue, or runs its work on one thread.
  init?(
    _ interval: Tick.Stride, _ tolerance: Tick.Stride?, _ scheduler: Context, _ options: Context.SchedulerOptions?
  ) {
    guard scheduler.isQueue, (scheduler as? any QueueScheduler)?.isHere == nil else { return nil }
    CurrentDomain.noteQueue()
    self.interval = interval
    self.tolerance = tolerance
    self.scheduler = scheduler
    self.options = options
    lane.perform { [self] in
      ticks = PassthroughSubject(of: "Timer")
      ticks.conduits.isTicking = false
    }
  }

  /// Subscribes in the lane. The subscriber receives its subscription immediately.
  @usableFromInline func receive(_ subscriber: ErasedSubscriber<Tick, Never>) {
    let stage = CrossingStage("Timer", subscriber, on: scheduler, options: options)
    stage.home.domain = lane
    let relay = QueueTicksRelay(stage)
    CurrentDomain.outside { stage.receive(subscription: relay) }
    lane.perform { [ticks] in if relay.isLive { ticks?.receive(subscriber: relay) } }
  }

  func connect() {
    // Looked up on the calling thread, whose loop keeps running while the timer does.
    let home = CrossedHome(lane, holder: Home.holder)
    lane.perform { [self] in
      connections += 1
      guard ticker == nil else { return }
      let ticker = Ticker(interval, tolerance, HomeScheduler(base: scheduler, home: home), options)
      self.ticker = ticker
      ticks.conduits.isTicking = true
      ticker.start(after: interval) { [ticks] in _ = ticks?.send($0) }
    }
  }

  func disconnect() {
    lane.perform { [self] in
      connections -= 1
      guard connections == 0 else { return }
      ticker.take()?.stop()
      ticks.conduits.isTicking = false
    }
  }
}

/// A subscription to the ticks of a timer on a queue. Used in the timer's lane.
private final class QueueTicksRelay<Tick>: GuardedSubscription, Subscriber {
  private let stage: CrossingStage<Tick, Never>
  private var up: (any Subscription)?
  /// The demand that was requested before the subject's subscription arrived.
  private var demand = Subscribers.Demand.none
  private(set) var isLive = true

  init(_ stage: CrossingStage<Tick, Never>) {
    self.stage = stage
    super.init()
    confinement = .anywhere
  }

  func receive(subscription: any Subscription) {
    up = subscription
    if demand > .none { subscription.request(demand) }
  }

  func receive(_ input: Tick) -> Subscribers.Demand { isLive ? stage.receive(input) : .none }

  func receive(completion: Subscribers.Completion<Never>) { stage.receive(completion: completion) }

  override func requested(_ demand: Subscribers.Demand) {
    if let up { up.request(demand) } else { self.demand += demand }
  }

  override func cancelled() {
    isLive = false
    up.take()?.cancel()
  }

  override var description: String { "Timer" }
}
