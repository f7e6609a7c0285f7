extension Publisher {
  /// Delivers values and the completion on `scheduler`.
  ///
  ///     upstream    --a--b--c--|
  ///     receive(on: loop)
  ///     downstream  --a--b--c--|   each on the loop's next turn
  ///
  /// **Policy:** keeps requested values until their turn. **Demand:** passes through. **Failure:** waits for its turn
  /// after the values. **Cancellation:** cancels upstream immediately; drops waiting values and a waiting completion.
  ///
  /// With a `DispatchQueue`, the stream below this operator runs on the queue, one value at a time and in order, even
  /// if the queue is concurrent. To process values on several cores, use
  /// ``Publisher/parallelMap(on:width:limit:ordering:_:)``.
  ///
  /// - Parameters:
  ///   - scheduler: delivers the values.
  ///   - options: passed on to the scheduler.
  @inlinable public func receive<S: Scheduler>(
    on scheduler: S, options: S.SchedulerOptions? = nil
  ) -> Publishers.ReceiveOn<Self, S> {
    Publishers.ReceiveOn(upstream: self, scheduler: scheduler, options: options)
  }
}

extension Publishers {
  /// See ``Publisher/receive(on:options:)``.
  public struct ReceiveOn<Upstream: Publisher, Context: Scheduler>: Operator {
    public typealias Output = Upstream.Output

    public let upstream: Upstream
    public let scheduler: Context
    public let options: Context.SchedulerOptions?
    /// True when the values are `Sendable`, and so may cross to a loop on another thread.
    @usableFromInline let mayCross: Bool

    @inlinable public init(upstream: Upstream, scheduler: Context, options: Context.SchedulerOptions?) {
      self.init(upstream, scheduler, options, mayCross: false)
    }

    /// Crosses to a scheduler on another thread. Only for values that are `Sendable`.
    @inlinable package init(crossing upstream: Upstream, to scheduler: Context) {
      self.init(upstream, scheduler, nil, mayCross: true)
      // From now on, a stream may arrive from another thread, and must cross on its way back, too.
      if scheduler.isElsewhere { CurrentDomain.noteQueue() }
    }

    @inlinable init(_ upstream: Upstream, _ scheduler: Context, _ options: Context.SchedulerOptions?, mayCross: Bool) {
      self.mayCross = mayCross
      self.upstream = upstream
      self.scheduler = scheduler
      scheduler.noteQueue()
      self.options = options
    }

    @inlinable public func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Failure {
      if scheduler.isQueue
        || mayCross && (scheduler.isElsewhere || CurrentDomain.hasQueues || !upstream._deliversAtHome)
      {
        return cross(to: ErasedSubscriber(subscriber))
      }
      upstream.receive(
        subscriber: ReceiveOnStage<Output, Failure>("ReceiveOn", ErasedSubscriber(subscriber)) {
          [scheduler, options, hold = scheduler.newHold()] in
          scheduler.schedule(holding: hold, options: options, $0)
          return nil
        })
    }

    @inlinable @inline(never) func cross(to subscriber: ErasedSubscriber<Output, Failure>) {
      let stage = CrossingStage("ReceiveOn", subscriber, on: scheduler, options: options)
      stage.subscribe { upstream.receive(subscriber: stage) }
    }
  }
}
