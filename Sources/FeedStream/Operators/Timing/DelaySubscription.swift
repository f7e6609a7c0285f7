extension Publisher {
  /// Subscribes to this publisher `interval` later.
  ///
  ///     upstream       --a-b-|
  ///     delaySubscription(for: 3)
  ///     downstream  -----a-b-|
  ///
  /// **Demand:** demand that arrives during the delay reaches upstream when it is subscribed to. **Failure:** passes
  /// through. **Policy:** forwards. **Cancellation:** immediate; if the stream is cancelled during the delay, upstream
  /// is never subscribed to.
  ///
  /// - Parameters:
  ///   - interval: the delay, as measured by `scheduler`.
  ///   - scheduler: measures the time and subscribes.
  ///   - options: passed on to the scheduler.
  @inlinable public func delaySubscription<S: Scheduler>(
    for interval: S.SchedulerTimeType.Stride, scheduler: S, options: S.SchedulerOptions? = nil
  ) -> Publishers.DelaySubscription<Self, S> {
    Publishers.DelaySubscription(upstream: self, interval: interval, scheduler: scheduler, options: options)
  }
}

extension Publishers {
  /// See ``Publisher/delaySubscription(for:scheduler:options:)``.
  public struct DelaySubscription<Upstream: Publisher, Context: Scheduler>: Operator, _JoinsPublishers {
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
      self.options = options
      scheduler.noteQueue()
    }

    @inlinable public func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Failure {
      let stage = SequentialStage("DelaySubscription", ErasedSubscriber(subscriber))
      subscriber.receive(subscription: stage)
      stage.subscribe({ [upstream] in upstream.receive(subscriber: $0) }, at: Alarm(interval, scheduler, options))
    }
  }
}
