// Where Combine is available, Foundation defines types with these names itself.
#if !canImport(Combine)
  public import Foundation

  extension Timer {
    /// A timer on a run loop, as in Combine: `Timer.publish(every: 1, on: .main, in: .common).autoconnect()`.
    ///
    /// On an ``EventLoop``, use ``Scheduler/timer(every:tolerance:options:)``.
    ///
    /// **Demand, failure, cancellation, policy:** as in ``Publishers/Timer``.
    ///
    /// - Parameters:
    ///   - interval: the time between ticks, in seconds.
    ///   - tolerance: the number of seconds by which a tick may be late.
    ///   - runLoop: the run loop of the thread on which the subscribers live.
    ///   - mode: the mode in which that loop must run.
    ///   - options: not used, and present only for code written for Combine; the timer runs in `mode`.
    /// - Precondition: `interval` is more than zero.
    public static func publish(
      every interval: TimeInterval, tolerance: TimeInterval? = nil, on runLoop: RunLoop, in mode: RunLoop.Mode,
      options: RunLoop.SchedulerOptions? = nil
    ) -> TimerPublisher {
      TimerPublisher(interval: interval, tolerance: tolerance, runLoop: runLoop, mode: mode, options: options)
    }

    @available(*, unavailable, message: "on an event loop, write loop.timer(every: .seconds(1)).autoconnect()")
    public static func publish<Loop: LoopScheduler>(
      every interval: TimeInterval, tolerance: TimeInterval? = nil, on loop: Loop
    ) -> Publishers.Timer<Loop> { fatalError("unavailable") }

    /// Delivers the date at a regular interval while connected.
    ///
    ///     connect     x
    ///     downstream  ---date--date--date…
    ///
    /// **Demand, failure, cancellation, policy:** as in ``Publishers/Timer``.
    public final class TimerPublisher: ConnectablePublisher {
      public typealias Output = Date
      public typealias Failure = Never

      public let interval: TimeInterval
      public let tolerance: TimeInterval?
      public let runLoop: RunLoop
      public let mode: RunLoop.Mode
      public let options: RunLoop.SchedulerOptions?

      private let timer: Publishers.Timer<RunLoop>

      public init(
        interval: TimeInterval, tolerance: TimeInterval? = nil, runLoop: RunLoop, mode: RunLoop.Mode,
        options: RunLoop.SchedulerOptions? = nil
      ) {
        self.interval = interval
        self.tolerance = tolerance
        self.runLoop = runLoop
        self.mode = mode
        self.options = options
        timer = runLoop.timer(
          every: .seconds(interval), tolerance: tolerance.map { .seconds($0) },
          options: RunLoop.SchedulerOptions(mode: mode))
      }

      @_documentation(visibility: internal)
      public var _deliversAtHome: Bool { timer._deliversAtHome }

      public func receive<S: Subscriber>(subscriber: S) where S.Input == Date, S.Failure == Never {
        timer.map(\.date).receive(subscriber: subscriber)
      }

      public func connect() -> any Cancellable { timer.connect() }
    }
  }
#endif
