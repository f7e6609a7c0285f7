extension Publisher {
  /// Subscribes again whenever upstream finishes, until it has subscribed `times` times in total.
  ///
  ///     upstream    -a-b|
  ///     repeat(2)
  ///     downstream  -a-b-a-b|
  ///
  /// Without a limit, a publisher that finishes immediately and has no values blocks the thread forever.
  ///
  /// **Demand:** each new subscription receives the outstanding demand. **Failure:** passes through. **Cancellation:**
  /// immediate. **Policy:** forwards. The stack stays flat.
  ///
  /// - Parameter times: the number of times to subscribe in total; `nil` means no limit.
  /// - Precondition: `times` is not negative. With 0, the stream finishes immediately.
  @inlinable public func `repeat`(_ times: Int? = nil) -> Publishers.Repeat<Self, ImmediateScheduler> {
    Publishers.Repeat(upstream: self, times: times, pause: nil, scheduler: .shared, options: nil)
  }

  /// Subscribes again `pause` after upstream has finished: a poll that never overlaps itself.
  ///
  ///     upstream    -a|
  ///     repeat(3, after: 4, scheduler: loop)
  ///     downstream  -a-----a-----a|
  ///
  /// **Demand:** each new subscription receives the outstanding demand. **Failure:** passes through. **Cancellation:**
  /// immediate, even during a pause. **Policy:** forwards.
  ///
  /// - Parameters:
  ///   - times: the number of times to subscribe in total; `nil` means no limit.
  ///   - pause: the time from a completion to the next subscription, as measured by `scheduler`.
  ///   - scheduler: measures the pauses and subscribes after them.
  ///   - options: passed on to the scheduler.
  /// - Precondition: `times` is not negative. With 0, the stream finishes immediately.
  @inlinable public func `repeat`<S: Scheduler>(
    _ times: Int? = nil, after pause: S.SchedulerTimeType.Stride, scheduler: S, options: S.SchedulerOptions? = nil
  ) -> Publishers.Repeat<Self, S> {
    Publishers.Repeat(upstream: self, times: times, pause: pause, scheduler: scheduler, options: options)
  }
}

extension Publishers {
  /// See ``Publisher/repeat(_:)``.
  public struct Repeat<Upstream: Publisher, Context: Scheduler>: Operator, _JoinsPublishers {
    public typealias Output = Upstream.Output

    public let upstream: Upstream
    /// The number of subscriptions in total; `nil` means no limit.
    public let times: Int?
    /// The pause between two subscriptions; `nil` if there is no pause.
    public let pause: Context.SchedulerTimeType.Stride?
    public let scheduler: Context
    public let options: Context.SchedulerOptions?

    @inlinable public init(
      upstream: Upstream, times: Int?, pause: Context.SchedulerTimeType.Stride?, scheduler: Context,
      options: Context.SchedulerOptions?
    ) {
      precondition(
        times ?? 0 >= 0, "repeat(\(times ?? 0)): the count cannot be negative; use 0 or more, or nil for no limit")
      self.upstream = upstream
      self.times = times
      self.pause = pause
      self.scheduler = scheduler
      self.options = options
    }

    @inlinable public func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Failure {
      let stage = RepeatStage<Output, Failure>(
        ErasedSubscriber(subscriber), times, alarm: pause.map { Alarm($0, scheduler, options) },
        attach: { [upstream] in upstream.receive(subscriber: $0) })
      subscriber.receive(subscription: stage)
      stage.start()
    }
  }
}

@usableFromInline final class RepeatStage<Output, Failure: Error>: SequentialStage<Output, Failure> {
  /// The number of subscriptions that are left; negative if there is no limit.
  @exclusivity(unchecked) private var left: Int
  private let alarm: Alarm?
  private let attach: (Upstream) -> Void

  @usableFromInline init(
    _ down: ErasedSubscriber<Output, Failure>, _ times: Int?, alarm: Alarm?, attach: @escaping (Upstream) -> Void
  ) {
    left = times ?? -1
    self.alarm = alarm
    self.attach = attach
    super.init("Repeat", down)
  }

  @usableFromInline func start() {
    guard left != 0 else { return end(.finished) }
    if left > 0 { left -= 1 }
    subscribe(attach)
  }

  override func ended(_ completion: Subscribers.Completion<Failure>) {
    guard case .finished = completion, left != 0 else { return end(completion) }
    if left > 0 { left -= 1 }
    if let alarm { subscribe(attach, at: alarm) } else { subscribe(attach) }
  }
}
