/// A scheduler that can cancel work that runs once.
///
/// Combine's schedulers can cancel only repeated work. Both schedulers here can, so that a cancelled `delay` of an hour
/// neither keeps its loop running nor counts as leftover work.
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
    // Asked once: a cast costs more than the call.
    revoking = scheduler as? any RevokingScheduler<Context.SchedulerTimeType>
    self.tolerance = tolerance
    self.options = options
  }

  /// Whether the scheduler can cancel work that runs once.
  var canBeCanceled: Bool { revoking != nil }

  /// If the scheduler can't cancel it, the work runs and must have no effect; until then, it retains its captured
  /// values, as in Combine.
  ///
  /// - Returns: a cancellable that cancels the work.
  @usableFromInline
  func run(after date: Context.SchedulerTimeType, _ action: @escaping () -> Void) -> (any Cancellable)? {
    if let work = revoking?.scheduleOnce(after: date, action) { return work }
    scheduler.schedule(after: date, tolerance: tolerance ?? scheduler.minimumTolerance, options: options, action)
    return nil
  }

  /// - Returns: a cancellable that cancels the work.
  @usableFromInline
  func run(in interval: Context.SchedulerTimeType.Stride, _ action: @escaping () -> Void) -> (any Cancellable)? {
    run(after: scheduler.now.advanced(by: interval), action)
  }

  /// If the scheduler can't cancel it, the work repeats every `period` until it is cancelled, which its first run must
  /// do.
  @usableFromInline
  func start(
    at date: Context.SchedulerTimeType, period: Context.SchedulerTimeType.Stride, _ action: @escaping () -> Void
  ) -> any Cancellable {
    if let work = revoking?.scheduleOnce(after: date, action) { return work }
    return scheduler.schedule(
      after: date, interval: period, tolerance: tolerance ?? scheduler.minimumTolerance, options: options, action)
  }

  /// Schedules the work after `interval`.
  @usableFromInline
  func start(in interval: Context.SchedulerTimeType.Stride, _ action: @escaping () -> Void) -> any Cancellable {
    // The period can be anything but zero.
    start(
      at: scheduler.now.advanced(by: interval), period: interval > .zero ? interval : .nanoseconds(1), action)
  }
}
