extension Publisher {
  /// Continues with `fallback` when nothing arrives for `interval`.
  ///
  ///     upstream    -a-b--------c-|
  ///     fallback           -x-y|
  ///     timeout(4, fallback: …)
  ///     downstream  -a-b----x-y|
  ///
  /// The time is measured as in ``Publisher/timeout(_:scheduler:options:customError:)``, for upstream only.
  ///
  /// **Policy:** values that arrived in time are delivered first. **Demand:** the outstanding demand passes to the
  /// fallback. **Failure:** passes through from either publisher. **Cancellation:** cancels the running publisher
  /// immediately; waiting values are dropped.
  ///
  /// - Parameters:
  ///   - interval: the maximum time without a value, as measured by `scheduler`.
  ///   - scheduler: measures the time and delivers upstream's values.
  ///   - options: passed on to the scheduler.
  ///   - fallback: the publisher to continue with; upstream is cancelled first.
  @inlinable public func timeout<S: Scheduler, P: Publisher<Output, Failure>>(
    _ interval: S.SchedulerTimeType.Stride, scheduler: S, options: S.SchedulerOptions? = nil, fallback: P
  ) -> Publishers.TimeoutFallback<Self, P, S> {
    Publishers.TimeoutFallback(
      upstream: self, fallback: fallback, interval: interval, scheduler: scheduler, options: options)
  }
}

extension Publisher {
  /// `timeout` with a fallback that cannot fail.
  ///
  /// **Demand, failure, cancellation, policy:** as in ``Publisher/timeout(_:scheduler:options:fallback:)``.
  @_documentation(visibility: internal) @_disfavoredOverload @inlinable
  public func timeout<S: Scheduler, P: Publisher<Output, Never>>(
    _ interval: S.SchedulerTimeType.Stride, scheduler: S, options: S.SchedulerOptions? = nil, fallback: P
  ) -> Publishers.TimeoutFallback<Self, Publishers.SetFailureType<P, Failure>, S> {
    timeout(
      interval, scheduler: scheduler, options: options, fallback: fallback.setFailureType(to: Failure.self))
  }
}

extension Publisher where Failure == Never {
  /// `timeout` for a stream that cannot fail and a fallback that can.
  ///
  /// **Demand, failure, cancellation, policy:** as in ``Publisher/timeout(_:scheduler:options:fallback:)``.
  @_documentation(visibility: internal) @_disfavoredOverload @inlinable
  public func timeout<S: Scheduler, P: Publisher>(
    _ interval: S.SchedulerTimeType.Stride, scheduler: S, options: S.SchedulerOptions? = nil, fallback: P
  ) -> Publishers.TimeoutFallback<Publishers.SetFailureType<Self, P.Failure>, P, S> where P.Output == Output {
    setFailureType(to: P.Failure.self).timeout(interval, scheduler: scheduler, options: options, fallback: fallback)
  }
}

extension Publishers {
  /// See ``Publisher/timeout(_:scheduler:options:fallback:)``.
  public struct TimeoutFallback<
    Upstream: Publisher, Fallback: Publisher<Upstream.Output, Upstream.Failure>, Context: Scheduler
  >: Operator, _JoinsPublishers {
    public typealias Output = Upstream.Output

    public let upstream: Upstream
    public let fallback: Fallback
    public let interval: Context.SchedulerTimeType.Stride
    public let scheduler: Context
    public let options: Context.SchedulerOptions?

    @inlinable public init(
      upstream: Upstream, fallback: Fallback, interval: Context.SchedulerTimeType.Stride, scheduler: Context,
      options: Context.SchedulerOptions?
    ) {
      self.upstream = upstream
      self.fallback = fallback
      self.interval = interval
      self.scheduler = scheduler
      scheduler.noteQueue()
      self.options = options
    }

    @inlinable public func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Failure {
      if scheduler.isQueue { return cross(to: ErasedSubscriber(subscriber)) }
      attach(ErasedSubscriber(subscriber), on: scheduler)
    }

    @inlinable @inline(never) func cross(to subscriber: ErasedSubscriber<Output, Failure>) {
      scheduler.cross("TimeoutFallback", to: subscriber, options: options) { attach(ErasedSubscriber($0), on: $1) }
    }

    @inlinable func attach<C: Scheduler>(_ subscriber: ErasedSubscriber<Output, Failure>, on scheduler: C)
    where C.SchedulerTimeType == Context.SchedulerTimeType, C.SchedulerOptions == Context.SchedulerOptions {
      let stage = SequentialStage("TimeoutFallback", subscriber)
      let alarm = Alarm(interval, scheduler, options)
      subscriber.receive(subscription: stage)
      stage.subscribe { [self, unowned stage] inlet in
        upstream.receive(
          TimeoutStage<Output, Failure>(
            ErasedSubscriber(inlet), alarm,
            schedule: { [hold = scheduler.newHold()] in
              scheduler.schedule(holding: hold, options: options, $0)
              return nil
            },
            expired: { _ in stage.subscribe { fallback.receive(subscriber: $0) } }), through: stage.gate)
      }
    }
  }
}
