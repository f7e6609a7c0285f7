/// A scheduler that can take back work that it was to run once.
///
/// Combine's schedulers take back only repeating work. Ours are both this, so that a cancelled `delay` of an hour
/// neither keeps its loop running nor shows up as work left over.
package protocol RevokingScheduler<SchedulerTimeType>: Scheduler {
  /// Runs `action` at `date`, once, unless cancelled before.
  ///
  /// - Returns: takes the work back; `nil`, and nothing is scheduled, when that turns out to be impossible.
  func scheduleOnce(after date: SchedulerTimeType, _ action: @escaping () -> Void) -> (any Cancellable)?
}

/// Work that a scheduler runs once at its time, and takes back where it can.
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

  /// Where the scheduler cannot take it back, the work runs and must find nothing to do; until then it holds what it
  /// holds, as in Combine.
  ///
  /// - Returns: takes the work back.
  @usableFromInline
  func run(after date: Context.SchedulerTimeType, _ action: @escaping () -> Void) -> (any Cancellable)? {
    if let work = revoking?.scheduleOnce(after: date, action) { return work }
    scheduler.schedule(after: date, tolerance: tolerance ?? scheduler.minimumTolerance, options: options, action)
    return nil
  }

  /// - Returns: takes the work back.
  @usableFromInline
  func run(in interval: Context.SchedulerTimeType.Stride, _ action: @escaping () -> Void) -> (any Cancellable)? {
    run(after: scheduler.now.advanced(by: interval), action)
  }

  /// Where the scheduler cannot take it back, the work repeats every `period` until it is cancelled, which the first
  /// run has to do.
  @usableFromInline
  func start(
    at date: Context.SchedulerTimeType, period: Context.SchedulerTimeType.Stride, _ action: @escaping () -> Void
  ) -> any Cancellable {
    if let work = revoking?.scheduleOnce(after: date, action) { return work }
    return scheduler.schedule(
      after: date, interval: period, tolerance: tolerance ?? scheduler.minimumTolerance, options: options, action)
  }

  /// The same after `interval`.
  @usableFromInline
  func start(in interval: Context.SchedulerTimeType.Stride, _ action: @escaping () -> Void) -> any Cancellable {
    // The period can be anything but zero.
    start(
      at: scheduler.now.advanced(by: interval), period: interval > .zero ? interval : .nanoseconds(1), action)
  }
}
