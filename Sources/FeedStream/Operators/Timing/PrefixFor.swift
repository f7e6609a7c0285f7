extension Publisher {
  /// Passes values through for `interval`, then finishes.
  ///
  ///     upstream    -a-b-c-d-|
  ///     prefix(for: 4)
  ///     downstream  -a-b|
  ///
  /// ![prefix(for: 4, scheduler: time)](marbles-prefix-for.svg)
  ///
  /// **Demand, failure:** pass through. **Cancellation:** immediate; upstream is cancelled when the time is up.
  /// **Policy:** forwards.
  ///
  /// - Parameters:
  ///   - interval: the time from the subscription, as measured by `scheduler`.
  ///   - scheduler: measures the time and delivers the completion.
  ///   - options: passed on to the scheduler.
  @inlinable public func prefix<S: Scheduler>(
    for interval: S.SchedulerTimeType.Stride, scheduler: S, options: S.SchedulerOptions? = nil
  ) -> Publishers.PrefixFor<Self, S> {
    Publishers.PrefixFor(upstream: self, interval: interval, scheduler: scheduler, options: options)
  }
}

extension Publishers {
  /// See ``Publisher/prefix(for:scheduler:options:)``.
  public struct PrefixFor<Upstream: Publisher, Context: Scheduler>: Operator {
    public typealias Output = Upstream.Output

    public let upstream: Upstream
    public let interval: Context.SchedulerTimeType.Stride
    public let scheduler: Context
    public let options: Context.SchedulerOptions?

    @inlinable public init(
      upstream: Upstream, interval: Context.SchedulerTimeType.Stride, scheduler: Context,
      options: Context.SchedulerOptions?
    ) {
      self.upstream = upstream
      self.interval = interval
      self.scheduler = scheduler
      scheduler.noteQueue()
      self.options = options
    }

    @inlinable public func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Failure {
      if scheduler.isQueue { return cross(to: ErasedSubscriber(subscriber)) }
      attach(ErasedSubscriber(subscriber), Alarm(interval, scheduler, options))
    }

    @inlinable @inline(never) func cross(to subscriber: ErasedSubscriber<Output, Failure>) {
      scheduler.cross("PrefixFor", to: subscriber, options: options) { stage, scheduler in
        scheduler.subscribe(
          PrefixForStage(ErasedSubscriber(stage), Alarm(interval, scheduler, options)), to: upstream)
      }
    }

    @inlinable func attach(_ subscriber: ErasedSubscriber<Output, Failure>, _ alarm: Alarm) {
      upstream.receive(subscriber: PrefixForStage<Output, Failure>(subscriber, alarm))
    }
  }
}

@usableFromInline final class PrefixForStage<Input, Failure: Error>: Stage<Input, Failure>, Subscriber {
  private let alarm: Alarm

  @usableFromInline init(_ down: ErasedSubscriber<Input, Failure>, _ alarm: Alarm) {
    self.alarm = alarm
    super.init(down)
  }

  override func began() {
    super.began()
    if isLive { alarm.set { [self] in stop(.finished) } }
  }

  @inlinable func receive(_ input: Input) -> Subscribers.Demand { takesEvents ? down.receive(input) : .none }

  @usableFromInline func receive(completion: Subscribers.Completion<Failure>) { finish(completion) }

  override func forget() { alarm.cancel() }
}
