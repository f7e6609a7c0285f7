// Where Combine is available, Foundation defines types with these names itself.
#if !canImport(Combine)
  public import Foundation

  /// A run loop as a scheduler, so that code written for Combine runs unchanged on a thread that runs one.
  ///
  /// In new code, use an ``EventLoop``, which has exact timers and is also an executor. Any thread may schedule work on
  /// `RunLoop.main`. Any other run loop is for its own thread only: scheduling on it from another thread traps. If an
  /// ``EventLoop`` runs on the thread instead, that loop runs the run loop when scheduled work is due.
  ///
  /// On Linux, Foundation never releases a `Timer`. `RunLoop.main` needs none for work without options, which goes
  /// through the main queue. With options, or on any other run loop, each value of `delay`, `debounce`, `throttle` or
  /// `timeout` leaks a timer: use no options, a serial `DispatchQueue` or an ``EventLoop`` instead. `Timer.publish`
  /// leaks one for each connection.
  extension RunLoop: Scheduler, QueueScheduler {
    @_documentation(visibility: internal)
    @inlinable public static var usesOtherThreads: Bool { true }
    package static var repeatsTicks: Bool { true }
    package var queueName: String { servesMainQueue ? "the main run loop" : "a run loop" }
    package var isHere: (@Sendable () -> Bool)? {
      if servesMainQueue { return { DispatchQueue.isMain } }
      let loop = ObjectIdentifier(self)
      return { ObjectIdentifier(RunLoop.current) == loop }
    }

    /// An instant of the wall clock, which run loops use.
    public struct SchedulerTimeType: Strideable, Codable, Hashable, Sendable {
      public var date: Date

      public init(_ date: Date) { self.date = date }

      public func distance(to other: SchedulerTimeType) -> Stride { Stride(other.date.timeIntervalSince(date)) }
      public func advanced(by n: Stride) -> SchedulerTimeType { SchedulerTimeType(date + n.timeInterval) }

      /// The same instant on the clock of the main queue, which the main run loop serves.
      fileprivate var onMainQueue: DispatchQueue.SchedulerTimeType {
        DispatchQueue.main.now.advanced(by: .seconds(max(0, date.timeIntervalSinceNow)))
      }
    }

    /// The options with which a run loop runs scheduled work.
    public struct SchedulerOptions: Sendable {
      /// The mode in which the loop must run; `.default` without options.
      public var mode: RunLoop.Mode

      public init(mode: RunLoop.Mode = .default) { self.mode = mode }
    }

    public var now: SchedulerTimeType { SchedulerTimeType(Date()) }
    public var minimumTolerance: SchedulerTimeType.Stride { 0 }

    public func schedule(options: SchedulerOptions?, _ action: @escaping () -> Void) {
      if usesMainQueue(options) { return DispatchQueue.main.schedule(options: nil, action) }
      let work = work(action)
      let mode = options?.mode ?? .default
      perform(inModes: [mode]) { work.runOnce() }
      Turns(in: mode, for: work)?.book(at: Date())
    }

    public func schedule(
      after date: SchedulerTimeType, tolerance: SchedulerTimeType.Stride, options: SchedulerOptions?,
      _ action: @escaping () -> Void
    ) {
      if usesMainQueue(options) {
        return DispatchQueue.main.schedule(
          after: date.onMainQueue, tolerance: .seconds(tolerance.timeInterval), options: nil, action)
      }
      let work = work(action)
      let timer = Timer(fire: date.date, interval: 0, repeats: false) { _ in work.runOnce() }
      add(timer, tolerance, options)
      Turns(in: options?.mode ?? .default, for: work)?.book(at: date.date)
    }

    /// Runs `action` at `date` and then every `interval`.
    ///
    /// - Returns: a cancellable that stops the repetition. Unlike in Combine, releasing it doesn't stop the repetition;
    ///   to stop it then, wrap the cancellable in an ``AnyCancellable``.
    /// - Precondition: `interval` is more than zero.
    public func schedule(
      after date: SchedulerTimeType, interval: SchedulerTimeType.Stride, tolerance: SchedulerTimeType.Stride,
      options: SchedulerOptions?, _ action: @escaping () -> Void
    ) -> any Cancellable {
      precondition(interval > .zero, "RunLoop.schedule: the interval is \(interval.timeInterval); use more than zero")
      if usesMainQueue(options) {
        let repetition = MovableRepetition()
        // Work that waits for the main queue can't run on it, so the work moves to a Timer once the loop runs.
        let mayMove = self == .main && isCurrent
        let timer = DispatchQueue.main.schedule(
          after: date.onMainQueue, interval: interval.onQueue,
          tolerance: .seconds(tolerance.timeInterval), options: nil
        ) { [self] in
          action()
          guard mayMove, !repetition.isCancelled, !usesMainQueue(options) else { return }
          repetition.move(
            to: schedule(
              after: now.advanced(by: interval), interval: interval, tolerance: tolerance, options: options
            ) {
              if !repetition.isCancelled { action() }
            })
        }
        repetition.begin(timer)
        return repetition
      }
      let work = work(action)
      // Foundation halts on an interval below a nanosecond.
      let timer = Timer(fire: date.date, interval: max(interval.timeInterval, 1e-9), repeats: true) { _ in work.run() }
      add(timer, tolerance, options)
      let turns = Turns(in: options?.mode ?? .default, for: work, timer)
      turns?.book(at: date.date)
      return Repetition(timer: timer, work: work, turns: turns)
    }

    private func add(_ timer: Timer, _ tolerance: SchedulerTimeType.Stride, _ options: SchedulerOptions?) {
      timer.tolerance = tolerance.timeInterval
      add(timer, forMode: options?.mode ?? .default)
    }

    private func work(_ action: @escaping () -> Void) -> Work {
      guard isCurrent else {
        halt(
          """
          RunLoop: this is another thread's run loop, and only that thread may use it as a scheduler; use RunLoop.main or a \
          DispatchQueue, which any thread may use
          """
        )
      }
      return Work(action)
    }

    /// True if work for the main run loop goes through the main queue, which any thread may use, and which releases
    /// its timers. An asynchronous `main` serves nothing else. With options, work for a loop that is running doesn't,
    /// so that it also runs in a run loop within code on the main queue, and may itself wait for that queue.
    private func usesMainQueue(_ options: SchedulerOptions?) -> Bool {
      guard servesMainQueue else { return false }
      guard self == .main, isCurrent, let options else { return true }
      return currentMode == nil && (options.mode == .default || options.mode == .common)
    }

    private var isCurrent: Bool { RunLoop.current == self }

    /// True for the main run loop. Also true for `RunLoop.current` in code on the main queue that runs on another
    /// thread, as under `dispatchMain()` and in an asynchronous `main`, because nothing runs that thread's loop.
    private var servesMainQueue: Bool { self == .main || MainQueueCode.isRunning && isCurrent }

    /// An action in transit through a run loop, whose closures must be sendable. @unchecked: the loop runs the action
    /// on its own thread, which is the one that scheduled it.
    ///
    /// On Linux, Foundation never releases a timer or its closure. The action's captured values are released here, so
    /// that only the timer itself leaks.
    private final class Work: @unchecked Sendable {
      private var action: (() -> Void)?
      /// The turns that are booked for work that runs once; their loop retains them.
      weak var turns: Turns?
      init(_ action: @escaping () -> Void) { self.action = action }

      func run() { action?() }

      func runOnce() {
        action.take()?()
        // A loop that isn't running would keep the turn until it runs. Another thread may have become the loop's owner.
        if let turns, turns.loop.isHere { turns.cancel() }
      }

      func forget() { action = nil }

      var isDone: Bool { action == nil }
    }

    /// Runs a run loop from an ``EventLoop`` on the same thread, so that its work is done no matter which of the two
    /// runs.
    private final class Turns {
      let loop: EventLoop
      private let mode: RunLoop.Mode
      private let work: Work
      /// The timer of repeated work.
      private let timer: Timer?
      private var next: (any Cancellable)?

      /// Returns `nil` on a thread that has no ``EventLoop`` of its own.
      init?(in mode: RunLoop.Mode, for work: Work, _ timer: Timer? = nil) {
        guard let loop = ThreadLoops.ofCallingThread, loop.entrance.host == nil else { return nil }
        self.loop = loop
        // `.common` stands for several modes, but a run loop runs in one.
        self.mode = mode == .common ? .default : mode
        self.work = work
        self.timer = timer
        work.turns = self
      }

      /// Runs the run loop at `date` and, because the two clocks differ, again until the work is done.
      func book(at date: Date) {
        let nanoseconds = Int(min(max(date.timeIntervalSinceNow, 0), 1e9) * 1e9)
        next = loop.scheduleOnce(after: loop.now.advanced(by: .nanoseconds(nanoseconds))) { [self] in
          _ = RunLoop.current.run(mode: mode, before: .distantPast)
          if work.isDone { next = nil } else { book(at: nextDate) }
        }
      }

      /// The timer's next date; without a timer, soon. If the wall clock was set back, at most one interval from now.
      private var nextDate: Date {
        let soon = Date() + 0.001
        return timer.map { min(max($0.fireDate, soon), soon + $0.timeInterval) } ?? soon
      }

      func cancel() { next.take()?.cancel() }
    }

    private struct Repetition: Cancellable {
      let timer: Timer
      let work: Work
      let turns: Turns?
      func cancel() {
        timer.invalidate()
        work.forget()
        turns?.cancel()
      }
    }
  }

  extension RunLoop.SchedulerTimeType {
    /// A duration; a plain number means seconds.
    public struct Stride: SchedulerTimeIntervalConvertible, ExpressibleByFloatLiteral, Comparable, SignedNumeric,
      Hashable,
      Codable, Sendable
    {
      /// The duration in seconds.
      public var timeInterval: TimeInterval

      public init(_ timeInterval: TimeInterval) { self.timeInterval = timeInterval }
      public init(integerLiteral value: TimeInterval) { self.init(value) }
      public init(floatLiteral value: TimeInterval) { self.init(value) }
      public init?<T: BinaryInteger>(exactly source: T) {
        guard let seconds = TimeInterval(exactly: source) else { return nil }
        self.init(seconds)
      }

      public var magnitude: TimeInterval { timeInterval.magnitude }

      /// The same interval between runs on a queue, which is at least a nanosecond.
      var onQueue: DispatchQueue.SchedulerTimeType.Stride { max(.seconds(timeInterval), .nanoseconds(1)) }

      public static func < (lhs: Self, rhs: Self) -> Bool { lhs.timeInterval < rhs.timeInterval }
      public static func + (lhs: Self, rhs: Self) -> Self { Self(lhs.timeInterval + rhs.timeInterval) }
      public static func - (lhs: Self, rhs: Self) -> Self { Self(lhs.timeInterval - rhs.timeInterval) }
      public static func * (lhs: Self, rhs: Self) -> Self { Self(lhs.timeInterval * rhs.timeInterval) }
      public static func *= (lhs: inout Self, rhs: Self) { lhs = lhs * rhs }

      public static func seconds(_ s: Int) -> Self { Self(TimeInterval(s)) }
      public static func seconds(_ s: Double) -> Self { Self(s) }
      public static func milliseconds(_ ms: Int) -> Self { Self(TimeInterval(ms) / 1e3) }
      public static func microseconds(_ us: Int) -> Self { Self(TimeInterval(us) / 1e6) }
      public static func nanoseconds(_ ns: Int) -> Self { Self(TimeInterval(ns) / 1e9) }
    }
  }
#endif
