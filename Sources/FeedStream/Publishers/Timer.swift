extension Scheduler {
  /// A timer on this scheduler, for any number of subscribers; `timer(every: 1).autoconnect()` starts with the first
  /// subscriber.
  ///
  /// **Demand, failure, cancellation, policy:** as in ``Publishers/Timer``.
  ///
  /// - Parameters:
  ///   - interval: the time between ticks.
  ///   - tolerance: the maximum delay of a tick; by default, this scheduler's minimum.
  ///   - options: passed on to this scheduler.
  /// - Precondition: `interval` is more than zero.
  public func timer(
    every interval: SchedulerTimeType.Stride, tolerance: SchedulerTimeType.Stride? = nil,
    options: SchedulerOptions? = nil
  ) -> Publishers.Timer<Self> {
    Publishers.Timer(every: interval, tolerance: tolerance, scheduler: self, options: options)
  }

  /// A timer whose interval is given as a `Duration`.
  ///
  /// **Demand, failure, cancellation, policy:** as in ``Publishers/Timer``.
  @_documentation(visibility: internal) @_disfavoredOverload public func timer(
    every interval: Duration, tolerance: Duration? = nil, options: SchedulerOptions? = nil
  ) -> Publishers.Timer<Self> {
    timer(
      every: SchedulerTimeType.Stride(interval), tolerance: tolerance.map { SchedulerTimeType.Stride($0) },
      options: options)
  }
}

extension LoopScheduler {
  /// A timer on any loop scheduler.
  ///
  /// **Demand, failure, cancellation, policy:** as in ``Publishers/Timer``.
  @_documentation(visibility: internal) @_disfavoredOverload public func timer(
    every interval: Duration, tolerance: Duration? = nil
  ) -> Publishers.Timer<AnyLoopScheduler> {
    AnyLoopScheduler(self).timer(every: interval, tolerance: tolerance)
  }
}

extension Publishers {
  /// Delivers the scheduler's time at a regular interval, to all its subscribers, while connected.
  ///
  ///     connect     x
  ///     timer(every: 3)
  ///     downstream  ---3--6--9…
  ///
  /// This publisher is hot, like Combine's `Timer.TimerPublisher`; ``Interval`` is the cold form. There is no burst
  /// after a stall: ticks that a busy scheduler missed are skipped. A custom scheduler or a run loop repeats the work
  /// itself, and decides what happens to missed ticks.
  ///
  /// **Demand:** each tick uses up one of the values that a subscriber has requested. **Policy:** a subscriber that has
  /// not requested a tick misses it; the missed tick is reported. **Failure:** none. **Cancellation:** ends a
  /// subscription immediately; the timer runs until every connection has been cancelled.
  public final class Timer<Context: Scheduler>: ConnectablePublisher, _DeliversAtHome {
    public typealias Output = Context.SchedulerTimeType
    public typealias Failure = Never

    public let interval: Context.SchedulerTimeType.Stride
    public let tolerance: Context.SchedulerTimeType.Stride?
    public let scheduler: Context
    public let options: Context.SchedulerOptions?

    @usableFromInline let ticks = PassthroughSubject<Output, Never>(of: "Timer")
    /// The ticks of a timer on a queue that several threads may serve; `nil` for other timers.
    @usableFromInline let queueTicks: QueueTicks<Context>?
    private var ticker: Ticker<Context>?
    private var connections = 0

    /// - Precondition: `interval` is more than zero.
    public init(
      every interval: Context.SchedulerTimeType.Stride, tolerance: Context.SchedulerTimeType.Stride? = nil,
      scheduler: Context, options: Context.SchedulerOptions? = nil
    ) {
      Ticker<Context>.check(interval, "timer")
      self.interval = interval
      self.tolerance = tolerance
      self.scheduler = scheduler
      self.options = options
      queueTicks = QueueTicks(interval, tolerance, scheduler, options)
      ticks.conduits.isTicking = false
    }

    /// A timer whose interval is given as a `Duration`.
    @_documentation(visibility: internal) @_disfavoredOverload public convenience init(
      every interval: Duration, tolerance: Duration? = nil, scheduler: Context,
      options: Context.SchedulerOptions? = nil
    ) {
      typealias Stride = Context.SchedulerTimeType.Stride
      self.init(
        every: Stride(interval), tolerance: tolerance.map { Stride($0) }, scheduler: scheduler, options: options)
    }

    /// A timer on any loop scheduler.
    @_documentation(visibility: internal) @_disfavoredOverload public convenience init(
      every interval: Duration, tolerance: Duration? = nil, scheduler: some LoopScheduler, options: Never? = nil
    ) where Context == AnyLoopScheduler {
      self.init(every: interval, tolerance: tolerance, scheduler: AnyLoopScheduler(scheduler))
    }

    @inlinable public func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Never {
      if scheduler.isQueue, let queueTicks {
        queueTicks.receive(ErasedSubscriber(subscriber))
      } else if scheduler.isQueue, !isHere {
        ticks.subscribe(on: scheduler).receive(subscriber: subscriber)
      } else {
        ticks.receive(subscriber: subscriber)
      }
    }

    /// False if another thread serves the scheduler, and therefore owns `ticks`.
    @inline(never) @usableFromInline var isHere: Bool { (scheduler as? any QueueScheduler)?.isHere?() ?? true }

    /// Starts the timer if it isn't running.
    ///
    /// - Returns: a cancellable. The timer stops when every cancellable that this method has returned is cancelled;
    ///   releasing one has no effect.
    public func connect() -> any Cancellable {
      if let queueTicks {
        queueTicks.connect()
        return Connection(to: self)
      }
      connections += 1
      if ticker == nil {
        let ticker = Ticker(interval, tolerance, scheduler, options)
        self.ticker = ticker
        ticks.conduits.isTicking = true
        ticker.start(after: interval) { [ticks] in ticks.send($0) }
      }
      return Connection(to: self)
    }

    private func disconnect() {
      connections -= 1
      guard connections == 0 else { return }
      ticker?.stop()
      ticker = nil
      ticks.conduits.isTicking = false
    }

    /// A connection, which any thread may cancel: the timer stops where it was connected, or else on its scheduler.
    private final class Connection: Cancellable {
      private let timer: Locked<Timer?>
      private let thread = CurrentDomain.threadNumber
      private let home = Home.current
      /// True if the timer was connected on the main queue, which several threads may serve.
      private let isOnMainQueue = MainQueueCode.isRunning

      init(to timer: Timer) { self.timer = Locked(Carried(uncheckedly: timer).value) }

      func cancel() {
        guard let timer = timer.withLock({ Carried(uncheckedly: $0.take()) }).value else { return }
        if let queueTicks = timer.queueTicks {
          queueTicks.disconnect()
        } else if let home {
          home.perform { timer.disconnect() }
        } else if thread == CurrentDomain.threadNumber || isOnMainQueue && MainQueueCode.isRunning {
          timer.disconnect()
        } else {
          timer.scheduler.schedule { timer.disconnect() }
        }
      }
    }
  }
}
