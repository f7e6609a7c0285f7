/// The single deadline of a subscription: setting it again replaces the earlier one, and a cancelled alarm never fires.
///
/// An action that fires after it was cancelled or replaced has no effect, even if the scheduler fails to cancel its
/// timer. A set alarm keeps its action, and the values that it captures, alive through the scheduler.
@usableFromInline final class Alarm: Cancellable {
  private let start: (@escaping () -> Void) -> any Cancellable
  private let scheduler: Any.Type
  /// The thread is checked when the scheduler calls, as in `ScheduledStage`.
  @exclusivity(unchecked) private var place = SubjectConfinement()
  /// Distinguishes the timer of an earlier setting from the current one.
  @exclusivity(unchecked) private var setting: UInt64 = 0
  @exclusivity(unchecked) private var timer: (any Cancellable)?

  /// - Parameters:
  ///   - scheduler: the type of the scheduler, for messages.
  ///   - start: schedules work that runs once, or until its first run cancels it.
  @usableFromInline init(of scheduler: Any.Type, start: @escaping (@escaping () -> Void) -> any Cancellable) {
    self.scheduler = scheduler
    self.start = start
  }

  /// An alarm that fires `interval` after it was set.
  @inlinable convenience init<Context: Scheduler>(
    _ interval: Context.SchedulerTimeType.Stride, _ scheduler: Context, _ options: Context.SchedulerOptions?
  ) {
    // A queue has no thread that a stream could live on: what fires there goes home.
    if scheduler.isQueue {
      let timer = OneShot(HomeScheduler.ofCaller(scheduler), options: options)
      self.init(of: Context.self) { timer.start(in: interval, $0) }
    } else {
      let timer = OneShot(scheduler, options: options)
      self.init(of: Context.self) { timer.start(in: interval, $0) }
    }
  }

  @usableFromInline var isSet: Bool { timer != nil }

  /// Runs `action` once, when it is due.
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
