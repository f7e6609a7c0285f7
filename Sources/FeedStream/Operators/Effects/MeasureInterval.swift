extension Publisher {
  /// Replaces each value with the time since the previous value or, for the first value, since the subscription.
  ///
  ///     upstream    --a----b-c--|
  ///     measureInterval(using: loop)
  ///     downstream  --2----5-2--|
  ///
  /// **Demand, failure, cancellation:** pass through. **Policy:** forwards.
  ///
  /// - Parameters:
  ///   - scheduler: the clock; the results are in its unit.
  ///   - options: not used, because reading a clock needs no options.
  @inlinable public func measureInterval<Context: Scheduler>(
    using scheduler: Context, options: Context.SchedulerOptions? = nil
  ) -> Publishers.MeasureInterval<Self, Context> {
    Publishers.MeasureInterval(upstream: self, scheduler: scheduler)
  }
}

extension Publishers {
  /// See ``Publisher/measureInterval(using:options:)``.
  @frozen public struct MeasureInterval<Upstream: Publisher, Context: Scheduler>: Operator {
    public typealias Output = Context.SchedulerTimeType.Stride

    public let upstream: Upstream
    public let scheduler: Context

    @inlinable public init(upstream: Upstream, scheduler: Context) {
      self.upstream = upstream
      self.scheduler = scheduler
    }

    @inlinable public func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Failure {
      upstream.receive(
        stage: MeasureIntervalStage<Upstream.Output, Failure, Context.SchedulerTimeType>(
          ErasedSubscriber(subscriber), now: { [scheduler] in scheduler.now }))
    }
  }
}

@usableFromInline
final class MeasureIntervalStage<Input, Failure: Error, Instant: Strideable>: Stage<Instant.Stride, Failure>, Subscriber
{
  @usableFromInline let now: () -> Instant
  @exclusivity(unchecked) @usableFromInline var last: Instant?

  @inlinable init(_ down: ErasedSubscriber<Instant.Stride, Failure>, now: @escaping () -> Instant) {
    self.now = now
    super.init(down)
  }

  override func began() {
    last = now()
    super.began()
  }

  @inlinable func receive(_ input: Input) -> Subscribers.Demand {
    guard takesEvents, let last else { return .none }
    let now = self.now()
    self.last = now
    let more = down.receive(last.distance(to: now))
    if more > .none { up?.request(more) }
    return .none
  }

  @usableFromInline func receive(completion: Subscribers.Completion<Failure>) { finish(completion) }

  override var takesNone: Bool { true }
}
