/// A scheduler that can cancel work that runs once.
///
/// Combine's schedulers can cancel only repeated work. This library's schedulers can also cancel work that runs once,
/// so that a cancelled `delay` of an hour neither keeps its loop running nor counts as leftover work.
package protocol RevokingScheduler<SchedulerTimeType>: Scheduler {
  /// Runs `action` at `date`, once, unless cancelled first.
  ///
  /// - Returns: a cancellable that cancels the work; `nil`, with nothing scheduled, if that turns out to be impossible.
  func scheduleOnce(after date: SchedulerTimeType, _ action: @escaping () -> Void) -> (any Cancellable)?
}

/// Work that a scheduler runs once when it is due, and cancels if it can.
@usableFromInline struct OneShot<Context: Scheduler> {
  private let scheduler: Context
  private let revoking: (any RevokingScheduler<Context.SchedulerTimeType>)?
  private let tolerance: Context.SchedulerTimeType.Stride?
  private let options: Context.SchedulerOptions?

  @usableFromInline init(
    _ scheduler: Context, tolerance: Context.SchedulerTimeType.Stride? = nil, options: Context.SchedulerOptions? = nil
  ) {
    self.scheduler = scheduler
    // Cast once, because a cast costs more than the call.
    revoking = scheduler as? any RevokingScheduler<Context.SchedulerTimeType>
    self.tolerance = tolerance
    self.options = options
  }

  /// True if the scheduler can cancel work that runs once.
  var canBeCancelled: Bool { revoking != nil }

  /// Schedules `action` at `date`. If the scheduler can't cancel it, a cancelled action still runs, and must have no
  /// effect. Until then, it retains its captured values, as in Combine.
  ///
  /// - Returns: a cancellable that cancels the work; `nil` if the scheduler can't cancel it.
  @usableFromInline
  func run(after date: Context.SchedulerTimeType, _ action: @escaping () -> Void) -> (any Cancellable)? {
    if let work = revoking?.scheduleOnce(after: date, action) { return work }
    scheduler.schedule(after: date, tolerance: tolerance ?? scheduler.minimumTolerance, options: options, action)
    return nil
  }

  /// - Returns: a cancellable that cancels the work; `nil` if the scheduler can't cancel it.
  @usableFromInline
  func run(in interval: Context.SchedulerTimeType.Stride, _ action: @escaping () -> Void) -> (any Cancellable)? {
    run(after: scheduler.now.advanced(by: interval), action)
  }

  /// Schedules `action` at `date`. If the scheduler can't cancel work that runs once, the action repeats every
  /// `period`, and its first run must cancel it.
  @usableFromInline
  func start(
    at date: Context.SchedulerTimeType, period: Context.SchedulerTimeType.Stride, _ action: @escaping () -> Void
  ) -> any Cancellable {
    if let work = revoking?.scheduleOnce(after: date, action) { return work }
    return scheduler.schedule(
      after: date, interval: period, tolerance: tolerance ?? scheduler.minimumTolerance, options: options, action)
  }

  /// Schedules `action` after `interval`.
  @usableFromInline
  func start(in interval: Context.SchedulerTimeType.Stride, _ action: @escaping () -> Void) -> any Cancellable {
    // The period matters only if the first run is late or dropped. Combine's is the interval, which may be zero.
    start(
      at: scheduler.now.advanced(by: interval), period: interval > .zero ? interval : .milliseconds(10), action)
  }
}
