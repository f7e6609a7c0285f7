/// The one deadline of a subscription that waits: setting it again replaces the last setting, and a cancelled one never
/// fires.
///
/// An action that fires after it was cancelled or replaced has no effect, even if the scheduler fails to cancel its
/// timer. A set alarm keeps its action, and what that captures, alive through the scheduler.
@usableFromInline final class Alarm {
  private let start: (@escaping () -> Void) -> any Cancellable
  private let scheduler: Any.Type
  /// Checked where the scheduler calls, as in `ScheduledStage`.
  @exclusivity(unchecked) private var place = SubjectConfinement()
  /// Distinguishes the timer of an earlier setting from the current one.
  @exclusivity(unchecked) private var setting: UInt64 = 0
  @exclusivity(unchecked) private var timer: (any Cancellable)?

  /// - Parameters:
  ///   - scheduler: the type of the scheduler, for messages.
  ///   - start: schedules repeating work: a scheduler can cancel no other kind of timer.
  @usableFromInline init(of scheduler: Any.Type, start: @escaping (@escaping () -> Void) -> any Cancellable) {
    self.scheduler = scheduler
    self.start = start
  }

  /// An alarm that fires `interval` after it was set.
  @inlinable convenience init<Context: Scheduler>(
    _ interval: Context.SchedulerTimeType.Stride, _ scheduler: Context, _ options: Context.SchedulerOptions?
  ) {
    // The timer repeats so that it can be cancelled. It fires once, so its period can be anything but zero.
    let period = interval > .zero ? interval : .nanoseconds(1)
    // A queue has no thread that a stream could live on: what fires there goes home.
    if scheduler.isQueue {
      let home = HomeScheduler.ofCaller(scheduler)
      self.init(of: Context.self) { action in
        home.schedule(
          after: home.now.advanced(by: interval), interval: period, tolerance: home.minimumTolerance, options: options,
          action)
      }
    } else {
      self.init(of: Context.self) { action in
        scheduler.schedule(
          after: scheduler.now.advanced(by: interval), interval: period, tolerance: scheduler.minimumTolerance,
          options: options, action)
      }
    }
  }

  @usableFromInline var isSet: Bool { timer != nil }

  /// Runs `action` once, when the time has come.
  @usableFromInline func set(_ action: @escaping () -> Void) {
    place.checkScheduled(by: scheduler)
    setting &+= 1
    let present = setting
    let earlier = timer.take()
    let timer = start { [self] in
      place.checkScheduled(by: scheduler)
      guard setting == present else { return }
      cancel()
      action()
    }
    // A scheduler may fire within the call that sets the alarm.
    if setting == present { self.timer = timer } else { timer.cancel() }
    earlier?.cancel()
  }

  @usableFromInline func cancel() {
    setting &+= 1
    timer.take()?.cancel()
  }
}
