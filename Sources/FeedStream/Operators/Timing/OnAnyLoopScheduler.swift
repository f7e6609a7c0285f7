// The time operators on `any LoopScheduler`: their return types must not name the scheduler's type. They are
// disfavored, so that `.seconds(1)` on a scheduler whose type is known means that scheduler's stride. They are not in
// the documentation, because each would only repeat another operator.

extension Publisher {
  /// Delivers a value if no other value follows it for a `Duration`.
  ///
  /// **Demand, failure, cancellation, policy:** as in ``Publisher/debounce(for:scheduler:options:)``.
  @_documentation(visibility: internal) @_disfavoredOverload @inlinable
  public func debounce(
    for dueTime: Duration, scheduler: some LoopScheduler, options: Never? = nil
  ) -> Publishers.Debounce<Self, AnyLoopScheduler> {
    debounce(for: AnyLoopScheduler.Stride(dueTime), scheduler: AnyLoopScheduler(scheduler))
  }

  /// Passes values through for a `Duration`.
  ///
  /// **Demand, failure, cancellation, policy:** as in ``Publisher/prefix(for:scheduler:options:)``.
  @_documentation(visibility: internal) @_disfavoredOverload @inlinable
  public func prefix(
    for interval: Duration, scheduler: some LoopScheduler, options: Never? = nil
  ) -> Publishers.PrefixFor<Self, AnyLoopScheduler> {
    prefix(for: AnyLoopScheduler.Stride(interval), scheduler: AnyLoopScheduler(scheduler))
  }

  /// Subscribes a `Duration` later.
  ///
  /// **Demand, failure, cancellation, policy:** as in ``Publisher/delaySubscription(for:scheduler:options:)``.
  @_documentation(visibility: internal) @_disfavoredOverload @inlinable
  public func delaySubscription(
    for interval: Duration, scheduler: some LoopScheduler, options: Never? = nil
  ) -> Publishers.DelaySubscription<Self, AnyLoopScheduler> {
    delaySubscription(for: AnyLoopScheduler.Stride(interval), scheduler: AnyLoopScheduler(scheduler))
  }

  /// Divides the stream into windows that last a `Duration`.
  ///
  /// **Demand, failure, cancellation, policy:** as in ``Publisher/window(for:scheduler:options:)``.
  @_documentation(visibility: internal) @_disfavoredOverload @inlinable
  public func window(
    for interval: Duration, scheduler: some LoopScheduler, options: Never? = nil
  ) -> Publishers.Window<Self, Interval<AnyLoopScheduler>> {
    window(for: AnyLoopScheduler.Stride(interval), scheduler: AnyLoopScheduler(scheduler))
  }

  /// Samples at an interval given as a `Duration`.
  ///
  /// **Demand, failure, cancellation, policy:** as in ``Publisher/sample(every:scheduler:options:)``.
  @_documentation(visibility: internal) @_disfavoredOverload @inlinable
  public func sample(
    every interval: Duration, scheduler: some LoopScheduler, options: Never? = nil
  ) -> Publishers.Sample<Self, Interval<AnyLoopScheduler>> {
    sample(every: AnyLoopScheduler.Stride(interval), scheduler: AnyLoopScheduler(scheduler))
  }

  /// Collects the values of each interval, given as a `Duration`.
  ///
  /// **Demand, failure, cancellation, policy:** as in ``Publisher/buffer(for:scheduler:options:)``.
  @_documentation(visibility: internal) @_disfavoredOverload @inlinable
  public func buffer(
    for interval: Duration, scheduler: some LoopScheduler, options: Never? = nil
  ) -> Publishers.CollectByTime<Self, AnyLoopScheduler> {
    buffer(for: AnyLoopScheduler.Stride(interval), scheduler: AnyLoopScheduler(scheduler))
  }

  /// Delivers at most one value per `Duration`.
  ///
  /// **Demand, failure, cancellation, policy:** as in ``Publisher/throttle(for:scheduler:latest:)``.
  @_documentation(visibility: internal) @_disfavoredOverload @inlinable
  public func throttle(
    for interval: Duration, scheduler: some LoopScheduler, latest: Bool
  ) -> Publishers.Throttle<Self, AnyLoopScheduler> {
    throttle(for: AnyLoopScheduler.Stride(interval), scheduler: AnyLoopScheduler(scheduler), latest: latest)
  }

  /// Delivers values and the completion a `Duration` later.
  ///
  /// **Demand, failure, cancellation, policy:** as in ``Publisher/delay(for:tolerance:scheduler:options:)``.
  @_documentation(visibility: internal) @_disfavoredOverload @inlinable
  public func delay(
    for interval: Duration, tolerance: Duration? = nil, scheduler: some LoopScheduler, options: Never? = nil
  ) -> Publishers.Delay<Self, AnyLoopScheduler> {
    delay(
      for: AnyLoopScheduler.Stride(interval), tolerance: tolerance.map { AnyLoopScheduler.Stride($0) },
      scheduler: AnyLoopScheduler(scheduler))
  }

  /// Ends the stream when nothing arrives for a `Duration`.
  ///
  /// **Demand, failure, cancellation, policy:** as in ``Publisher/timeout(_:scheduler:options:customError:)``.
  @_documentation(visibility: internal) @_disfavoredOverload @inlinable
  public func timeout(
    _ interval: Duration, scheduler: some LoopScheduler, options: Never? = nil, customError: (() -> Failure)? = nil
  ) -> Publishers.Timeout<Self, AnyLoopScheduler> {
    timeout(AnyLoopScheduler.Stride(interval), scheduler: AnyLoopScheduler(scheduler), customError: customError)
  }

  /// Fails when nothing arrives for a `Duration`.
  ///
  /// **Demand, failure, cancellation, policy:** as in
  /// ``Publisher/timeout(_:scheduler:options:file:line:customError:)``.
  @_documentation(visibility: internal) @_disfavoredOverload @inlinable
  public func timeout(
    _ interval: Duration, scheduler: some LoopScheduler, options: Never? = nil, file: StaticString = #fileID,
    line: UInt = #line, customError: @escaping (TimedOut) -> Failure
  ) -> Publishers.Timeout<Self, AnyLoopScheduler> {
    timeout(
      AnyLoopScheduler.Stride(interval), scheduler: AnyLoopScheduler(scheduler), file: file, line: line,
      customError: customError)
  }

  /// Continues with `fallback` when nothing arrives for a `Duration`.
  ///
  /// **Demand, failure, cancellation, policy:** as in ``Publisher/timeout(_:scheduler:options:fallback:)``.
  @_documentation(visibility: internal) @_disfavoredOverload @inlinable
  public func timeout<P: Publisher>(
    _ interval: Duration, scheduler: some LoopScheduler, options: Never? = nil, fallback: P
  ) -> Publishers.TimeoutFallback<Self, P, AnyLoopScheduler> where P.Output == Output, P.Failure == Failure {
    timeout(AnyLoopScheduler.Stride(interval), scheduler: AnyLoopScheduler(scheduler), fallback: fallback)
  }

  /// Subscribes again a `Duration` after upstream has finished.
  ///
  /// **Demand, failure, cancellation, policy:** as in ``Publisher/repeat(_:after:scheduler:options:)``.
  @_documentation(visibility: internal) @_disfavoredOverload @inlinable
  public func `repeat`(
    _ times: Int? = nil, after pause: Duration, scheduler: some LoopScheduler, options: Never? = nil
  ) -> Publishers.Repeat<Self, AnyLoopScheduler> {
    `repeat`(times, after: AnyLoopScheduler.Stride(pause), scheduler: AnyLoopScheduler(scheduler))
  }

  /// Subscribes again after a failure, and measures the pauses on any loop scheduler.
  ///
  /// **Demand, failure, cancellation, policy:** as in ``Publisher/retry(_:scheduler:options:using:if:)``.
  @_documentation(visibility: internal) @_disfavoredOverload @inlinable
  public func retry(
    _ policy: RetryPolicy, scheduler: some LoopScheduler, options: Never? = nil,
    using generator: any RandomNumberGenerator = SystemRandomNumberGenerator(),
    if isWorthIt: @escaping (Failure) -> Bool = { _ in true }
  ) -> Publishers.RetryByPolicy<Self, AnyLoopScheduler> {
    retry(policy, scheduler: AnyLoopScheduler(scheduler), using: generator, if: isWorthIt)
  }

  /// Delivers on any loop scheduler.
  ///
  /// **Demand, failure, cancellation, policy:** as in ``Publisher/receive(on:options:)``.
  @_documentation(visibility: internal) @_disfavoredOverload @inlinable
  public func receive(
    on scheduler: some LoopScheduler, options: Never? = nil
  ) -> Publishers.ReceiveOn<Self, AnyLoopScheduler> {
    receive(on: AnyLoopScheduler(scheduler))
  }

  /// Delivers on any loop scheduler; an event loop may run on another thread.
  ///
  /// **Demand, failure, cancellation, policy:** as in ``Publisher/receive(on:)``.
  @_documentation(visibility: internal) @_disfavoredOverload @inlinable
  public func receive(
    on scheduler: some LoopScheduler, options: Never? = nil
  ) -> Publishers.ReceiveOn<Self, AnyLoopScheduler> where Output: Sendable {
    receive(on: AnyLoopScheduler(scheduler))
  }

  /// Subscribes on any loop scheduler.
  ///
  /// **Demand, failure, cancellation, policy:** as in ``Publisher/subscribe(on:options:)``.
  @_documentation(visibility: internal) @_disfavoredOverload @inlinable
  public func subscribe(
    on scheduler: some LoopScheduler, options: Never? = nil
  ) -> Publishers.SubscribeOn<Self, AnyLoopScheduler> {
    subscribe(on: AnyLoopScheduler(scheduler))
  }

  /// Measures the time between values with any loop scheduler.
  ///
  /// **Demand, failure, cancellation, policy:** as in ``Publisher/measureInterval(using:options:)``.
  @_documentation(visibility: internal) @_disfavoredOverload @inlinable
  public func measureInterval(
    using scheduler: some LoopScheduler, options: Never? = nil
  ) -> Publishers.MeasureInterval<Self, AnyLoopScheduler> {
    measureInterval(using: AnyLoopScheduler(scheduler))
  }
}

extension Publishers.TimeGroupingStrategy where Context == AnyLoopScheduler {
  /// The values of each period, on any loop scheduler.
  @_documentation(visibility: internal) @_disfavoredOverload
  public static func byTime(_ scheduler: some LoopScheduler, _ period: Duration) -> Self {
    .byTime(AnyLoopScheduler(scheduler), AnyLoopScheduler.Stride(period))
  }

  /// The values of each period, on any loop scheduler; an array that reaches this many values is delivered early.
  @_documentation(visibility: internal) @_disfavoredOverload
  public static func byTimeOrCount(_ scheduler: some LoopScheduler, _ period: Duration, _ count: Int) -> Self {
    .byTimeOrCount(AnyLoopScheduler(scheduler), AnyLoopScheduler.Stride(period), count)
  }
}
