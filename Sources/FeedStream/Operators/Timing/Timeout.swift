extension Publisher {
  /// Ends the stream when nothing arrives for `interval`.
  ///
  ///     upstream    -a-b--------c-|
  ///     timeout(4)
  ///     downstream  -a-b---|
  ///
  /// ![timeout(3, scheduler: time)](marbles-timeout.svg)
  ///
  /// The interval starts on subscription, and restarts at the first request and at each value.
  ///
  /// **Policy:** values and the completion are delivered on the scheduler; requested values wait for their turn there,
  /// and values that arrived in time are delivered before a timeout. **Demand:** passes through. **Failure:**
  /// upstream's failure passes through; a timeout cancels upstream, then finishes, or fails with `customError`.
  /// **Cancellation:** immediate; waiting values and a waiting completion are dropped.
  ///
  /// - Parameters:
  ///   - interval: the maximum time without a value, as measured by `scheduler`.
  ///   - scheduler: measures the time and delivers the values.
  ///   - options: passed on to the scheduler.
  ///   - customError: makes the error to fail with; without it, a timeout finishes the stream.
  @inlinable public func timeout<S: Scheduler>(
    _ interval: S.SchedulerTimeType.Stride, scheduler: S, options: S.SchedulerOptions? = nil,
    customError: (() -> Failure)? = nil
  ) -> Publishers.Timeout<Self, S> {
    Publishers.Timeout(
      upstream: self, interval: interval, scheduler: scheduler, options: options, customError: customError)
  }
}

/// The description of a timeout, which `timeout` passes to its `customError`.
public struct TimedOut: Error, Hashable, Sendable, CustomStringConvertible {
  /// The place where `timeout` was called.
  public let place: Place
  /// The nearest checkpoint below.
  public let checkpoint: Place?

  public var description: String {
    "timeout \(place): nothing arrived in time" + (checkpoint.map { ", checkpoint \($0)" } ?? "")
  }
}

extension Publisher {
  /// Fails when nothing arrives for `interval`, with an error that can name the place of the call.
  ///
  ///     upstream    -a-b--------c-|
  ///     timeout(4, scheduler: loop) { LoadError.tooSlow($0) }
  ///     downstream  -a-b---#
  ///
  /// **Policy, demand, failure, cancellation:** as in ``Publisher/timeout(_:scheduler:options:customError:)``.
  ///
  /// - Parameters:
  ///   - interval: the maximum time without a value, as measured by `scheduler`.
  ///   - scheduler: measures the time and delivers the failure.
  ///   - options: passed on to `scheduler`.
  ///   - file: the file in which the pipeline was assembled.
  ///   - line: the line on which the pipeline was assembled.
  ///   - customError: makes the error to fail with; its argument names the place of this call and the nearest
  ///     ``Publisher/checkpoint(_:file:line:)`` below.
  @inlinable public func timeout<S: Scheduler>(
    _ interval: S.SchedulerTimeType.Stride, scheduler: S, options: S.SchedulerOptions? = nil,
    file: StaticString = #fileID, line: UInt = #line, customError: @escaping (TimedOut) -> Failure
  ) -> Publishers.Timeout<Self, S> {
    Publishers.Timeout(
      upstream: self, interval: interval, scheduler: scheduler, options: options,
      timedOut: (Place(file: "\(file)", line: line), customError))
  }
}

extension Publishers {
  /// See ``Publisher/timeout(_:scheduler:options:customError:)``.
  public struct Timeout<Upstream: Publisher, Context: Scheduler>: Operator {
    public typealias Output = Upstream.Output

    public let upstream: Upstream
    public let interval: Context.SchedulerTimeType.Stride
    public let scheduler: Context
    public let options: Context.SchedulerOptions?
    public let customError: (() -> Upstream.Failure)?
    /// The place of the call, for an error that names it.
    @usableFromInline let timedOut: (place: Place, makeError: (TimedOut) -> Upstream.Failure)?

    @inlinable init(
      upstream: Upstream, interval: Context.SchedulerTimeType.Stride, scheduler: Context,
      options: Context.SchedulerOptions?, customError: (() -> Upstream.Failure)? = nil,
      timedOut: (Place, (TimedOut) -> Upstream.Failure)?
    ) {
      self.upstream = upstream
      self.interval = interval
      self.scheduler = scheduler
      scheduler.noteQueue()
      self.options = options
      self.customError = customError
      self.timedOut = timedOut
    }

    @inlinable public init(
      upstream: Upstream, interval: Context.SchedulerTimeType.Stride, scheduler: Context,
      options: Context.SchedulerOptions?, customError: (() -> Upstream.Failure)?
    ) {
      self.init(
        upstream: upstream, interval: interval, scheduler: scheduler, options: options, customError: customError,
        timedOut: nil)
    }

    @inlinable public func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Failure {
      if scheduler.isQueue { return cross(to: ErasedSubscriber(subscriber)) }
      attach(ErasedSubscriber(subscriber), on: scheduler)
    }

    @inlinable @inline(never) func cross(to subscriber: ErasedSubscriber<Output, Failure>) {
      scheduler.cross("Timeout", to: subscriber, options: options) { attach(ErasedSubscriber($0), on: $1) }
    }

    @inlinable func attach<C: Scheduler>(_ subscriber: ErasedSubscriber<Output, Failure>, on scheduler: C)
    where C.SchedulerTimeType == Context.SchedulerTimeType, C.SchedulerOptions == Context.SchedulerOptions {
      scheduler.subscribe(
        TimeoutStage<Output, Failure>(
          subscriber, Alarm(interval, scheduler, options),
          schedule: { [options, hold = scheduler.newHold()] in
            scheduler.schedule(holding: hold, options: options, $0)
            return nil
          },
          expired: { stage in stage.finish(ending(at: stage)) }), to: upstream)
    }

    @usableFromInline func ending(at stage: TimeoutStage<Output, Failure>) -> Subscribers.Completion<Failure> {
      if let (place, makeError) = timedOut {
        return .failure(makeError(TimedOut(place: place, checkpoint: nearestCheckpoint(below: stage))))
      }
      return customError.map { .failure($0()) } ?? .finished
    }
  }
}

@usableFromInline final class TimeoutStage<Input, Failure: Error>: ScheduledStage<Input, Failure>, Subscriber {
  private let alarm: Alarm
  private let expired: (TimeoutStage) -> Void
  @exclusivity(unchecked) private var hasRequested = false

  /// - Parameter expired: called instead of the completion, after upstream is cancelled and every value is delivered.
  @usableFromInline init(
    _ down: ErasedSubscriber<Input, Failure>, _ alarm: Alarm,
    schedule: @escaping (@escaping () -> Void) -> (any Cancellable)?,
    expired: @escaping (TimeoutStage) -> Void
  ) {
    self.alarm = alarm
    self.expired = expired
    super.init("Timeout", down, schedule: schedule)
  }

  override func began() {
    startTime()
    super.began()
  }

  @usableFromInline func startTime() {
    alarm.set { [self] in expire() }
    precondition(alarm.isSet, "timeout: \(timelessScheduler)")
  }

  @inlinable func receive(_ input: Input) -> Subscribers.Demand {
    guard takesEvents, isOpen else { return .none }
    startTime()
    enqueue(input)
    return .none
  }

  @usableFromInline func receive(completion: Subscribers.Completion<Failure>) {
    guard takesEvents, isOpen else { return }
    alarm.cancel()
    enqueue(completion)
  }

  private func expire() {
    guard isLive, isOpen else { return }
    isOpen = false
    up.take()?.cancel()
    while isLive, !waiting.isEmpty { deliverNext() }
    if isLive { expired(self) }
  }

  override func requested(_ demand: Subscribers.Demand) {
    guard isLive else { return }
    if !hasRequested {
      hasRequested = true
      if isOpen { startTime() }
    }
    super.requested(demand)
  }

  override func forget() {
    super.forget()
    alarm.cancel()
    // Calls that are still scheduled on a queue are dropped once the stream's home is gone.
    turn.stage = nil
  }
}
