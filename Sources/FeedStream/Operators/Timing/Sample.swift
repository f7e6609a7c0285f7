extension Publisher {
  /// Delivers the latest value whenever `trigger` delivers, unless that value has already been delivered.
  ///
  ///     upstream    -a-b-----c-d-|
  ///     trigger     ----x--x---x---
  ///     sample(on: trigger)
  ///     downstream  ----b------d-|
  ///
  /// ![sample(on: other.assertNoFailure())](marbles-sample.svg)
  ///
  /// The stream ends when upstream or the trigger completes.
  ///
  /// **Policy:** drops a value that is followed by another before the trigger delivers, by design; drops and reports a
  /// value that has not been sampled when the stream completes. If nothing is requested when the trigger delivers, the
  /// value waits for the next trigger. **Demand:** requests everything from upstream and the trigger. **Failure:**
  /// upstream's failure passes through. **Cancellation:** cancels upstream and the trigger immediately.
  ///
  /// - Parameter trigger: decides when a value is delivered; its values have no effect, and it cannot fail.
  @inlinable public func sample<Trigger: Publisher>(on trigger: Trigger) -> Publishers.Sample<Self, Trigger>
  where Trigger.Failure == Never {
    Publishers.Sample(upstream: self, trigger: trigger)
  }

  /// Delivers the latest value at a regular interval, unless that value has already been delivered.
  ///
  ///     upstream    -a-b-----c-d-|
  ///     sample(every: 4)
  ///     downstream  ----b-------d|
  ///
  /// **Demand, failure, cancellation, policy:** as in ``Publisher/sample(on:)``.
  ///
  /// - Parameters:
  ///   - interval: the time between samples, as measured by `scheduler`.
  ///   - scheduler: measures the time and delivers the values.
  ///   - options: passed on to `scheduler`.
  /// - Precondition: `interval` is more than zero.
  @inlinable public func sample<S: Scheduler>(
    every interval: S.SchedulerTimeType.Stride, scheduler: S, options: S.SchedulerOptions? = nil
  ) -> Publishers.Sample<Self, Interval<S>> {
    precondition(interval > .zero, "sample(every: \(interval)): the interval is zero or less; use more than zero")
    return sample(on: Interval(every: interval, scheduler: scheduler, options: options))
  }
}

extension Publishers {
  /// See ``Publisher/sample(on:)``.
  public struct Sample<Upstream: Publisher, Trigger: Publisher>: Operator, _JoinsPublishers
  where Trigger.Failure == Never {
    public typealias Output = Upstream.Output

    public let upstream: Upstream
    public let trigger: Trigger

    @inlinable public init(upstream: Upstream, trigger: Trigger) {
      self.upstream = upstream
      self.trigger = trigger
    }

    @inlinable public func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Failure {
      let stage = SampleStage<Output, Failure>(ErasedSubscriber(subscriber))
      upstream.receive(gated: stage, triggeredBy: trigger)
    }
  }
}

extension Publishers.Sample: Equatable where Upstream: Equatable, Trigger: Equatable {}

@usableFromInline final class SampleStage<Input, Failure: Error>: TriggeredStage<Input, Failure>, Subscriber {
  @exclusivity(unchecked) @usableFromInline var latest: Input?
  @exclusivity(unchecked) private var demand = Subscribers.Demand.none

  @usableFromInline init(_ down: ErasedSubscriber<Input, Failure>) { super.init("Sample", down) }

  override func began() {
    super.began()
    up?.request(.unlimited)
  }

  @inlinable func receive(_ input: Input) -> Subscribers.Demand {
    if takesEvents { discard(exchange(&latest, with: input)) }
    return .none
  }

  override func triggered() {
    guard isLive, demand > .none, let input = latest else { return }
    latest = nil
    demand.takeOne()
    demand += down.receive(input)
  }

  override func triggerEnded() {
    reportLatest()
    super.triggerEnded()
  }

  @usableFromInline func receive(completion: Subscribers.Completion<Failure>) {
    trigger?.cancel()
    reportLatest()
    finish(completion)
  }

  /// Reports the latest value as dropped, because the stream completes before that value was sampled.
  private func reportLatest() {
    guard isLive, let input = latest else { return }
    latest = nil
    StreamDiagnostics.dropped(input, "Sample", .terminated)
  }

  override func requested(_ demand: Subscribers.Demand) {
    if isLive { self.demand += demand }
  }

  override func forget() { discard(latest.take()) }
}
