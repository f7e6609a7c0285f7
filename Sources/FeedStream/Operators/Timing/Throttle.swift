extension Publisher {
  /// Delivers at most one value per `interval`: the latest that arrived in it, or the first.
  ///
  ///     upstream    -ab-c--d-------e--|
  ///     throttle(for: 4, latest: true)
  ///     downstream  -a---c---d-----e--|
  ///
  /// ![throttle(for: 3, scheduler: time, latest: true)](marbles-throttle.svg)
  ///
  /// The first value is delivered at the scheduler's next opportunity; each later one waits until `interval` has passed
  /// since the last delivery.
  ///
  /// **Policy:** drops the other values of an interval, by design; drops and reports values that have not been
  /// requested. **Demand:** requests everything from upstream. **Failure:** is delivered at the scheduler's next
  /// opportunity or, if a value is waiting, right after that value. **Cancellation:** drops the waiting value and a
  /// waiting completion.
  ///
  /// - Parameters:
  ///   - interval: the minimum time between two deliveries, as measured by `scheduler`.
  ///   - scheduler: measures the time and delivers the values.
  ///   - latest: true to replace the waiting value with a later one.
  @inlinable public func throttle<S: Scheduler>(
    for interval: S.SchedulerTimeType.Stride, scheduler: S, latest: Bool
  ) -> Publishers.Throttle<Self, S> {
    Publishers.Throttle(upstream: self, interval: interval, scheduler: scheduler, latest: latest)
  }
}

extension Publishers {
  /// See ``Publisher/throttle(for:scheduler:latest:)``.
  public struct Throttle<Upstream: Publisher, Context: Scheduler>: Operator {
    public typealias Output = Upstream.Output

    public let upstream: Upstream
    public let interval: Context.SchedulerTimeType.Stride
    public let scheduler: Context
    public let latest: Bool

    @inlinable public init(
      upstream: Upstream, interval: Context.SchedulerTimeType.Stride, scheduler: Context, latest: Bool
    ) {
      self.upstream = upstream
      self.interval = interval
      self.scheduler = scheduler
      scheduler.noteQueue()
      self.latest = latest
    }

    @inlinable public func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Failure {
      if scheduler.isQueue { return cross(to: ErasedSubscriber(subscriber)) }
      attach(ErasedSubscriber(subscriber), on: scheduler)
    }

    @inlinable @inline(never) func cross(to subscriber: ErasedSubscriber<Output, Failure>) {
      scheduler.cross("Throttle", to: subscriber) { attach(ErasedSubscriber($0), on: $1) }
    }

    @inlinable func attach<C: Scheduler>(_ subscriber: ErasedSubscriber<Output, Failure>, on scheduler: C)
    where C.SchedulerTimeType == Context.SchedulerTimeType, C.SchedulerOptions == Context.SchedulerOptions {
      scheduler.subscribe(
        ThrottleStage<Output, Failure, C>(subscriber, interval, scheduler, latest), to: upstream)
    }
  }
}

@usableFromInline
final class ThrottleStage<Input, Failure: Error, Context: Scheduler>: Stage<Input, Failure>, Subscriber {
  @usableFromInline let interval: Context.SchedulerTimeType.Stride
  @usableFromInline let scheduler: Context
  @usableFromInline let oneShot: OneShot<Context>
  @usableFromInline let latest: Bool
  @usableFromInline let hold: CrossedHome?
  /// The waiting value; the demand has already been reduced by one for it.
  @exclusivity(unchecked) @usableFromInline var waiting: Input?
  @exclusivity(unchecked) @usableFromInline var ending: Subscribers.Completion<Failure>?
  @exclusivity(unchecked) @usableFromInline var demand = Subscribers.Demand.none
  @exclusivity(unchecked) @usableFromInline var lastDelivery: Context.SchedulerTimeType?
  /// The time of the last event.
  @exclusivity(unchecked) @usableFromInline var time: Context.SchedulerTimeType
  /// Checks the thread on which the scheduler calls, as in `ScheduledStage`.
  @exclusivity(unchecked) @usableFromInline var place = SubjectConfinement()
  /// Cancels the scheduled delivery.
  @exclusivity(unchecked) @usableFromInline var work: (any Cancellable)?
  /// The subscriber's subscription; weak, because it retains this stage.
  @usableFromInline weak var leash: DetachableSubscription?

  @inlinable init(
    _ down: ErasedSubscriber<Input, Failure>, _ interval: Context.SchedulerTimeType.Stride, _ scheduler: Context,
    _ latest: Bool
  ) {
    self.interval = interval
    self.scheduler = scheduler
    oneShot = OneShot(scheduler)
    hold = scheduler.newHold()
    self.latest = latest
    time = scheduler.now
    super.init(down)
  }

  override func began() {
    time = scheduler.now
    let leash = DetachableSubscription("Throttle", self)
    self.leash = leash
    down.receive(subscription: leash)
    up?.request(.unlimited)
  }

  @inlinable func receive(_ input: Input) -> Subscribers.Demand {
    guard takesEvents, ending == nil else { return .none }
    time = scheduler.now
    if waiting != nil {
      if latest { discard(exchange(&waiting, with: input)) }
    } else if demand > .none {
      demand.takeOne()
      waiting = input
      // If the scheduler's clock was set back, the last delivery seems to be in the future.
      schedule(after: lastDelivery.map { min($0, time).advanced(by: interval) })
    } else {
      StreamDiagnostics.dropped(input, "Throttle", .noDemand)
    }
    return .none
  }

  @usableFromInline func receive(completion: Subscribers.Completion<Failure>) {
    guard takesEvents, ending == nil else { return }
    time = scheduler.now
    ending = completion
    if waiting == nil { schedule(after: nil) }
  }

  // Captures the stage weakly, so that scheduled work does not keep a released stream alive.
  @inlinable func schedule(after date: Context.SchedulerTimeType?) {
    place.checkScheduled("throttle")
    if let date, date > time {
      work = oneShot.run(after: date, CrossedHome.held(hold) { [weak self] in self?.deliver() })
    } else {
      scheduler.schedule(holding: hold, options: nil) { [weak self] in self?.deliver() }
    }
  }

  @inlinable func deliver() {
    place.checkScheduled("throttle")
    guard isLive else { return }
    discard(work.take())
    let ending = self.ending
    if let input = waiting {
      waiting = nil
      if ending == nil { lastDelivery = scheduler.now }
      demand += down.receive(input)
    }
    if let ending {
      finish(ending)
      leash?.release()
    }
  }

  override var takesNone: Bool { true }

  override func tell(_ facts: inout StreamFacts) {
    super.tell(&facts)
    facts.demand = demand
    facts.held = waiting == nil ? 0 : 1
    facts.waitsForTime = work != nil && (waiting != nil || ending != nil)
  }

  override func requested(_ demand: Subscribers.Demand) {
    if isLive { self.demand += demand }
  }

  override func cancelled() {
    super.cancelled()
    // Set this even if the subscription has not arrived: as in Combine, a subscription that arrives later is refused.
    phase = .ended
  }

  override func forget() {
    work.take()?.cancel()
    hold?.leave()
    discard(waiting.take())
  }
}
