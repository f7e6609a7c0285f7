extension Publisher {
  /// Delivers the values of each period as one array, or earlier when the array is full.
  ///
  ///     upstream    -a-b----c--------d-|
  ///     collect(.byTime(scheduler, 5))
  ///     downstream  -----[a,b][c]------[d]|
  ///
  /// ![collect(.byTime(time, 3))](marbles-collect-by-time.svg)
  ///
  /// The first period begins with the subscription, and each period follows the one before. A period without values
  /// delivers no array.
  ///
  /// As in Combine, requested arrays and completions are delivered on the scheduler.
  ///
  /// **Demand:** `.byTime` requests one value at a time from upstream, beginning with the subscription.
  /// `.byTimeOrCount` requests only the values that the requested arrays still lack. **Failure:** passes through, on
  /// the scheduler; the collected values are dropped and reported. When upstream finishes, they are delivered first.
  /// **Cancellation:** immediate. **Policy:** keeps an array until it is requested, then delivers it immediately; with
  /// `.byTime`, the array grows without limit until then.
  ///
  /// - Parameters:
  ///   - strategy: the scheduler, the length of a period, and the number of values that fill an array.
  ///   - options: passed on to the scheduler.
  /// - Precondition: the period and the count are more than zero.
  @inlinable public func collect<S: Scheduler>(
    _ strategy: Publishers.TimeGroupingStrategy<S>, options: S.SchedulerOptions? = nil
  ) -> Publishers.CollectByTime<Self, S> {
    Publishers.CollectByTime(upstream: self, strategy: strategy, options: options)
  }

  /// Delivers the values of each `interval` as one array: ReactiveX's name for ``Publisher/collect(_:options:)`` by
  /// time.
  ///
  /// **Demand, failure, cancellation, policy:** as in ``Publisher/collect(_:options:)``.
  ///
  /// - Precondition: `interval` is more than zero.
  @inlinable public func buffer<S: Scheduler>(
    for interval: S.SchedulerTimeType.Stride, scheduler: S, options: S.SchedulerOptions? = nil
  ) -> Publishers.CollectByTime<Self, S> {
    collect(.byTime(scheduler, interval), options: options)
  }
}

extension Publishers {
  /// The rule by which ``Publisher/collect(_:options:)`` groups values.
  public enum TimeGroupingStrategy<Context: Scheduler> {
    /// The values of each period.
    case byTime(Context, Context.SchedulerTimeType.Stride)
    /// The values of each period; an array that reaches this many values is delivered early.
    case byTimeOrCount(Context, Context.SchedulerTimeType.Stride, Int)
  }

  /// See ``Publisher/collect(_:options:)``.
  public struct CollectByTime<Upstream: Publisher, Context: Scheduler>: Operator {
    public typealias Output = [Upstream.Output]

    public let upstream: Upstream
    public let strategy: TimeGroupingStrategy<Context>
    public let options: Context.SchedulerOptions?

    public init(upstream: Upstream, strategy: TimeGroupingStrategy<Context>, options: Context.SchedulerOptions?) {
      switch strategy {
      case .byTime(_, let interval): Ticker<Context>.check(interval, "collect(.byTime)")
      case .byTimeOrCount(_, let interval, let count):
        Ticker<Context>.check(interval, "collect(.byTimeOrCount)")
        precondition(count > 0, "collect(.byTimeOrCount): an array of \(count) values never fills; use 1 or more")
      }
      self.upstream = upstream
      self.strategy = strategy
      self.options = options
    }

    @inlinable public func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Failure {
      switch strategy {
      case .byTime(let scheduler, let interval):
        begin(ErasedSubscriber(subscriber), count: nil, scheduler, interval)
      case .byTimeOrCount(let scheduler, let interval, let count):
        begin(ErasedSubscriber(subscriber), count: count, scheduler, interval)
      }
    }

    @inlinable func begin(
      _ subscriber: ErasedSubscriber<Output, Failure>, count: Int?, _ scheduler: Context,
      _ interval: Context.SchedulerTimeType.Stride
    ) {
      if scheduler.isQueue {
        cross(to: subscriber, count: count, scheduler, interval)
      } else {
        attach(subscriber, count: count, scheduler, interval)
      }
    }

    @inlinable @inline(never) func cross(
      to subscriber: ErasedSubscriber<Output, Failure>, count: Int?, _ scheduler: Context,
      _ interval: Context.SchedulerTimeType.Stride
    ) {
      scheduler.cross("CollectByTime", to: subscriber, options: options) {
        attach(ErasedSubscriber($0), count: count, $1, interval)
      }
    }

    @inlinable func attach<C: Scheduler>(
      _ subscriber: ErasedSubscriber<Output, Failure>, count: Int?, _ scheduler: C,
      _ interval: C.SchedulerTimeType.Stride
    ) where C.SchedulerOptions == Context.SchedulerOptions {
      let stage = CollectOnStage<Upstream.Output, Failure>(
        "CollectByTime", subscriber, count: count,
        hop: { [options, hold = scheduler.newHold()] in scheduler.schedule(holding: hold, options: options, $0) })
      let inlet = stage.newInlet(for: Int.self)
      scheduler.subscribe(stage, to: upstream)
      stage.start(Interval(every: interval, scheduler: scheduler, options: options), inlet)
    }
  }
}
