extension Publisher {
  /// Delivers a value if no other value follows it for `dueTime`.
  ///
  ///     upstream    -a-bc-----d---|
  ///     debounce(for: 3)
  ///     downstream  -------c-----d|
  ///
  /// ![debounce(for: 2, scheduler: time)](marbles-debounce.svg)
  ///
  /// **Policy:** drops a value that is followed by another too soon, by design; drops and reports a value that has not
  /// been requested when it is due, and a value that is still waiting when upstream completes. **Demand:** requests
  /// everything from upstream. **Failure:** is delivered at the scheduler's next opportunity. **Cancellation:** drops
  /// the waiting value and a pending completion.
  ///
  /// - Parameters:
  ///   - dueTime: the time that must pass without another value, as measured by `scheduler`.
  ///   - scheduler: measures the time and delivers the values.
  ///   - options: passed on to the scheduler.
  @inlinable public func debounce<S: Scheduler>(
    for dueTime: S.SchedulerTimeType.Stride, scheduler: S, options: S.SchedulerOptions? = nil
  ) -> Publishers.Debounce<Self, S> {
    Publishers.Debounce(upstream: self, dueTime: dueTime, scheduler: scheduler, options: options)
  }
}

extension Publishers {
  /// See ``Publisher/debounce(for:scheduler:options:)``.
  public struct Debounce<Upstream: Publisher, Context: Scheduler>: Operator {
    public typealias Output = Upstream.Output

    public let upstream: Upstream
    public let dueTime: Context.SchedulerTimeType.Stride
    public let scheduler: Context
    public let options: Context.SchedulerOptions?

    @inlinable public init(
      upstream: Upstream, dueTime: Context.SchedulerTimeType.Stride, scheduler: Context,
      options: Context.SchedulerOptions?
    ) {
      self.upstream = upstream
      self.dueTime = dueTime
      self.scheduler = scheduler
      scheduler.noteQueue()
      self.options = options
    }

    @inlinable public func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Failure {
      if scheduler.isQueue { return cross(to: ErasedSubscriber(subscriber)) }
      attach(ErasedSubscriber(subscriber), on: scheduler)
    }

    @inlinable @inline(never) func cross(to subscriber: ErasedSubscriber<Output, Failure>) {
      scheduler.cross("Debounce", to: subscriber, options: options) { attach(ErasedSubscriber($0), on: $1) }
    }

    @inlinable func attach<C: Scheduler>(_ subscriber: ErasedSubscriber<Output, Failure>, on scheduler: C)
    where C.SchedulerTimeType == Context.SchedulerTimeType, C.SchedulerOptions == Context.SchedulerOptions {
      scheduler.subscribe(
        DebounceStage<Output, Failure>(
          subscriber, Alarm(dueTime, scheduler, options),
          schedule: { [hold = scheduler.newHold()] in scheduler.schedule(holding: hold, options: nil, $0) }),
        to: upstream)
    }
  }
}

@usableFromInline final class DebounceStage<Input, Failure: Error>: Stage<Input, Failure>, Subscriber {
  @usableFromInline let alarm: Alarm
  private let schedule: (@escaping () -> Void) -> Void
  @exclusivity(unchecked) @usableFromInline var demand = Subscribers.Demand.none
  /// The waiting value.
  @exclusivity(unchecked) private var latest: Input?
  @exclusivity(unchecked) private var isOpen = true
  /// Checks the thread on which the scheduler calls, as in `ScheduledStage`.
  @exclusivity(unchecked) private var place = SubjectConfinement()

  @usableFromInline
  init(_ down: ErasedSubscriber<Input, Failure>, _ alarm: Alarm, schedule: @escaping (@escaping () -> Void) -> Void) {
    self.alarm = alarm
    self.schedule = schedule
    super.init(down)
  }

  override func began() {
    super.began()
    up?.request(.unlimited)
  }

  @usableFromInline func receive(_ input: Input) -> Subscribers.Demand {
    guard takesEvents, isOpen else { return .none }
    let old = exchange(&latest, with: input)
    alarm.set { [self] in deliver() }
    discard(old)
    return .none
  }

  private func deliver() {
    guard isLive, let input = latest else { return }
    latest = nil
    guard demand > .none else { return StreamDiagnostics.dropped(input, "Debounce", .noDemand) }
    demand.takeOne()
    demand += down.receive(input)
  }

  @usableFromInline func receive(completion: Subscribers.Completion<Failure>) {
    guard takesEvents, isOpen else { return }
    isOpen = false
    alarm.cancel()
    if let input = latest {
      latest = nil
      StreamDiagnostics.dropped(input, "Debounce", .terminated)
    }
    place.checkScheduled("debounce")
    schedule { [self] in
      place.checkScheduled("debounce")
      finish(completion)
    }
  }

  override func requested(_ demand: Subscribers.Demand) {
    if isLive { self.demand += demand }
  }

  override func forget() {
    alarm.cancel()
    discard(latest.take())
  }

  override func tell(_ facts: inout StreamFacts) {
    super.tell(&facts)
    facts.demand = demand
    facts.held = latest == nil ? 0 : 1
    facts.waitsForTime = alarm.isSet
  }
}
