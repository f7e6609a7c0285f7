extension SchedulerTimeIntervalConvertible {
  /// Converts `duration` to this scheduler's unit, to the nanosecond; saturates beyond 292 years.
  public init(_ duration: Duration) { self = .nanoseconds(Int(duration.wholeNanoseconds)) }
}

// The time operators with a `Duration`, on any scheduler. They are disfavored, so that `.seconds(1)` and literals still
// mean the scheduler's own stride. They are not in the documentation, because each would only repeat another operator.

extension Publisher {
  /// Delivers a value if no other value follows it for a `Duration`.
  ///
  /// **Demand, failure, cancellation, policy:** as in ``Publisher/debounce(for:scheduler:options:)``.
  @_documentation(visibility: internal) @_disfavoredOverload @inlinable
  public func debounce<S: Scheduler>(
    for dueTime: Duration, scheduler: S, options: S.SchedulerOptions? = nil
  ) -> Publishers.Debounce<Self, S> {
    debounce(for: S.SchedulerTimeType.Stride(dueTime), scheduler: scheduler, options: options)
  }

  /// Passes values through for a `Duration`.
  ///
  /// **Demand, failure, cancellation, policy:** as in ``Publisher/prefix(for:scheduler:options:)``.
  @_documentation(visibility: internal) @_disfavoredOverload @inlinable
  public func prefix<S: Scheduler>(
    for interval: Duration, scheduler: S, options: S.SchedulerOptions? = nil
  ) -> Publishers.PrefixFor<Self, S> {
    prefix(for: S.SchedulerTimeType.Stride(interval), scheduler: scheduler, options: options)
  }

  /// Subscribes a `Duration` later.
  ///
  /// **Demand, failure, cancellation, policy:** as in ``Publisher/delaySubscription(for:scheduler:options:)``.
  @_documentation(visibility: internal) @_disfavoredOverload @inlinable
  public func delaySubscription<S: Scheduler>(
    for interval: Duration, scheduler: S, options: S.SchedulerOptions? = nil
  ) -> Publishers.DelaySubscription<Self, S> {
    delaySubscription(for: S.SchedulerTimeType.Stride(interval), scheduler: scheduler, options: options)
  }

  /// Divides the stream into windows that last a `Duration`.
  ///
  /// **Demand, failure, cancellation, policy:** as in ``Publisher/window(for:scheduler:options:)``.
  @_documentation(visibility: internal) @_disfavoredOverload @inlinable
  public func window<S: Scheduler>(
    for interval: Duration, scheduler: S, options: S.SchedulerOptions? = nil
  ) -> Publishers.Window<Self, Interval<S>> {
    window(for: S.SchedulerTimeType.Stride(interval), scheduler: scheduler, options: options)
  }

  /// Samples at an interval given as a `Duration`.
  ///
  /// **Demand, failure, cancellation, policy:** as in ``Publisher/sample(every:scheduler:options:)``.
  @_documentation(visibility: internal) @_disfavoredOverload @inlinable
  public func sample<S: Scheduler>(
    every interval: Duration, scheduler: S, options: S.SchedulerOptions? = nil
  ) -> Publishers.Sample<Self, Interval<S>> {
    sample(every: S.SchedulerTimeType.Stride(interval), scheduler: scheduler, options: options)
  }

  /// Collects the values of each interval, given as a `Duration`.
  ///
  /// **Demand, failure, cancellation, policy:** as in ``Publisher/buffer(for:scheduler:options:)``.
  @_documentation(visibility: internal) @_disfavoredOverload @inlinable
  public func buffer<S: Scheduler>(
    for interval: Duration, scheduler: S, options: S.SchedulerOptions? = nil
  ) -> Publishers.CollectByTime<Self, S> {
    buffer(for: S.SchedulerTimeType.Stride(interval), scheduler: scheduler, options: options)
  }

  /// Delivers at most one value per `Duration`.
  ///
  /// **Demand, failure, cancellation, policy:** as in ``Publisher/throttle(for:scheduler:latest:)``.
  @_documentation(visibility: internal) @_disfavoredOverload @inlinable
  public func throttle<S: Scheduler>(
    for interval: Duration, scheduler: S, latest: Bool
  ) -> Publishers.Throttle<Self, S> {
    throttle(for: S.SchedulerTimeType.Stride(interval), scheduler: scheduler, latest: latest)
  }

  /// Delivers values and the completion a `Duration` later.
  ///
  /// **Demand, failure, cancellation, policy:** as in ``Publisher/delay(for:tolerance:scheduler:options:)``.
  @_documentation(visibility: internal) @_disfavoredOverload @inlinable
  public func delay<S: Scheduler>(
    for interval: Duration, tolerance: Duration? = nil, scheduler: S, options: S.SchedulerOptions? = nil
  ) -> Publishers.Delay<Self, S> {
    delay(
      for: S.SchedulerTimeType.Stride(interval), tolerance: tolerance.map { S.SchedulerTimeType.Stride($0) },
      scheduler: scheduler, options: options)
  }

  /// Ends the stream when nothing arrives for a `Duration`.
  ///
  /// **Demand, failure, cancellation, policy:** as in ``Publisher/timeout(_:scheduler:options:customError:)``.
  @_documentation(visibility: internal) @_disfavoredOverload @inlinable
  public func timeout<S: Scheduler>(
    _ interval: Duration, scheduler: S, options: S.SchedulerOptions? = nil, customError: (() -> Failure)? = nil
  ) -> Publishers.Timeout<Self, S> {
    timeout(
      S.SchedulerTimeType.Stride(interval), scheduler: scheduler, options: options, customError: customError)
  }

  /// Fails when nothing arrives for a `Duration`.
  ///
  /// **Demand, failure, cancellation, policy:** as in
  /// ``Publisher/timeout(_:scheduler:options:file:line:customError:)``.
  @_documentation(visibility: internal) @_disfavoredOverload @inlinable
  public func timeout<S: Scheduler>(
    _ interval: Duration, scheduler: S, options: S.SchedulerOptions? = nil, file: StaticString = #fileID,
    line: UInt = #line, customError: @escaping (TimedOut) -> Failure
  ) -> Publishers.Timeout<Self, S> {
    timeout(
      S.SchedulerTimeType.Stride(interval), scheduler: scheduler, options: options, file: file, line: line,
      customError: customError)
  }

  /// Continues with `fallback` when nothing arrives for a `Duration`.
  ///
  /// **Demand, failure, cancellation, policy:** as in ``Publisher/timeout(_:scheduler:options:fallback:)``.
  @_documentation(visibility: internal) @_disfavoredOverload @inlinable
  public func timeout<S: Scheduler, P: Publisher>(
    _ interval: Duration, scheduler: S, options: S.SchedulerOptions? = nil, fallback: P
  ) -> Publishers.TimeoutFallback<Self, P, S> where P.Output == Output, P.Failure == Failure {
    timeout(S.SchedulerTimeType.Stride(interval), scheduler: scheduler, options: options, fallback: fallback)
  }

  /// Subscribes again a `Duration` after upstream has finished.
  ///
  /// **Demand, failure, cancellation, policy:** as in ``Publisher/repeat(_:after:scheduler:options:)``.
  @_documentation(visibility: internal) @_disfavoredOverload @inlinable
  public func `repeat`<S: Scheduler>(
    _ times: Int? = nil, after pause: Duration, scheduler: S, options: S.SchedulerOptions? = nil
  ) -> Publishers.Repeat<Self, S> {
    `repeat`(times, after: S.SchedulerTimeType.Stride(pause), scheduler: scheduler, options: options)
  }
}

extension Publishers.TimeGroupingStrategy {
  /// The values of each period, given as a `Duration`.
  @_documentation(visibility: internal) @_disfavoredOverload
  public static func byTime(_ scheduler: Context, _ period: Duration) -> Self {
    .byTime(scheduler, Context.SchedulerTimeType.Stride(period))
  }

  /// The values of each period, given as a `Duration`; an array that reaches this many values is delivered early.
  @_documentation(visibility: internal) @_disfavoredOverload
  public static func byTimeOrCount(_ scheduler: Context, _ period: Duration, _ count: Int) -> Self {
    .byTimeOrCount(scheduler, Context.SchedulerTimeType.Stride(period), count)
  }
}
