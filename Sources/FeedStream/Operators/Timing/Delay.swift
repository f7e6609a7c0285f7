extension Publisher {
  /// Delivers values and the completion `interval` later.
  ///
  ///     upstream    -a-b-c|
  ///     delay(for: 3)
  ///     downstream  ----a-b-c|
  ///
  /// ![delay(for: 2, scheduler: time)](marbles-delay.svg)
  ///
  /// The subscription itself is not delayed; see ``Publisher/delaySubscription(for:scheduler:options:)``.
  ///
  /// **Policy:** keeps requested values until they are due. **Demand:** passes through. **Failure:** is delayed like a
  /// value. **Cancellation:** cancels upstream immediately; waiting values and a waiting completion are dropped.
  ///
  /// - Parameters:
  ///   - interval: the delay, as measured by `scheduler`.
  ///   - tolerance: the maximum additional delay of a delivery; by default, the scheduler's minimum.
  ///   - scheduler: measures the time and delivers the values.
  ///   - options: passed on to the scheduler.
  @inlinable public func delay<S: Scheduler>(
    for interval: S.SchedulerTimeType.Stride, tolerance: S.SchedulerTimeType.Stride? = nil, scheduler: S,
    options: S.SchedulerOptions? = nil
  ) -> Publishers.Delay<Self, S> {
    Publishers.Delay(
      upstream: self, interval: interval, tolerance: tolerance ?? scheduler.minimumTolerance, scheduler: scheduler,
      options: options)
  }
}

extension Publishers {
  /// See ``Publisher/delay(for:tolerance:scheduler:options:)``.
  public struct Delay<Upstream: Publisher, Context: Scheduler>: Operator {
    public typealias Output = Upstream.Output

    public let upstream: Upstream
    public let interval: Context.SchedulerTimeType.Stride
    public let tolerance: Context.SchedulerTimeType.Stride
    public let scheduler: Context
    public let options: Context.SchedulerOptions?

    @inlinable public init(
      upstream: Upstream, interval: Context.SchedulerTimeType.Stride, tolerance: Context.SchedulerTimeType.Stride,
      scheduler: Context, options: Context.SchedulerOptions? = nil
    ) {
      self.upstream = upstream
      self.interval = interval
      self.tolerance = tolerance
      self.scheduler = scheduler
      scheduler.noteQueue()
      self.options = options
    }

    @inlinable public func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Failure {
      if scheduler.isQueue { return cross(to: ErasedSubscriber(subscriber)) }
      let work = OneShot(scheduler, tolerance: tolerance, options: options)
      let hold = scheduler.newHold()
      upstream.receive(
        subscriber: ReceiveOnStage<Output, Failure>("Delay", ErasedSubscriber(subscriber), hold: hold) {
          [interval] in
          work.run(in: interval, CrossedHome.held(hold, $0))
        })
    }

    @inlinable @inline(never) func cross(to subscriber: ErasedSubscriber<Output, Failure>) {
      let stage = CrossingStage("Delay", subscriber, on: scheduler, options: options) {
        scheduler.schedule(after: scheduler.now.advanced(by: interval), tolerance: tolerance, options: options, $0)
      }
      stage.subscribe { upstream.receive(subscriber: stage) }
    }
  }
}
