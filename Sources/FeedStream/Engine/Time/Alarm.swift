/// The single deadline of a subscription: setting it again replaces the earlier one, and a cancelled alarm never fires.
///
/// An action that fires after it was cancelled or replaced has no effect, even if the scheduler fails to cancel its
/// timer. A set alarm keeps its action, and the values that it captures, alive through the scheduler.
@usableFromInline final class Alarm: Cancellable {
  private let start: (@escaping () -> Void) -> any Cancellable
  private let scheduler: Any.Type
  private let hold: CrossedHome?
  /// Admits one thread at a time, and moves each firing to the stage's home; `nil` if the scheduler does so.
  @exclusivity(unchecked) private var gate: ThreadGate?
  /// Checks the thread when the scheduler calls, as in `ScheduledStage`, unless there is a gate.
  @exclusivity(unchecked) private var place = SubjectConfinement()
  /// The number of the current setting, which distinguishes its timer from earlier ones.
  @exclusivity(unchecked) private var setting: UInt64 = 0
  @exclusivity(unchecked) private var timer: (any Cancellable)?

  /// - Parameters:
  ///   - scheduler: the type of the scheduler, for messages.
  ///   - hold: keeps the loop running while the alarm is set.
  ///   - start: schedules work that runs once, or that repeats until its first run cancels it.
  @usableFromInline init(
    of scheduler: Any.Type, hold: CrossedHome? = nil, start: @escaping (@escaping () -> Void) -> any Cancellable
  ) {
    self.scheduler = scheduler
    self.hold = hold
    self.start = start
  }

  /// An alarm that fires `interval` after it was set.
  @inlinable convenience init<Context: Scheduler>(
    _ interval: Context.SchedulerTimeType.Stride, _ scheduler: Context, _ options: Context.SchedulerOptions?
  ) {
    // No stream can live on a queue, so an action that fires there is moved to the stream's home.
    if scheduler.isQueue {
      let timer = OneShot(HomeScheduler.ofCaller(scheduler), options: options)
      self.init(of: Context.self) { timer.start(in: interval, $0) }
    } else {
      let timer = OneShot(scheduler, options: options)
      self.init(of: Context.self, hold: scheduler.newHold()) { timer.start(in: interval, $0) }
    }
  }

  @usableFromInline var isSet: Bool { timer != nil }

  /// From now on, makes the alarm fire within the gate of the stage that sets it.
  func fire(within gate: ThreadGate) { self.gate = gate }

  /// Sets the alarm, which runs `action` when it fires.
  ///
  /// - Parameter repeats: true if the alarm stays set and fires again each time the scheduler repeats the work.
  @usableFromInline func set(repeats: Bool = false, _ action: @escaping () -> Void) {
    if gate == nil { place.checkScheduled(by: scheduler) }
    setting &+= 1
    let present = setting
    let earlier = timer.take()
    let fire = { [self] in
      if gate == nil { place.checkScheduled(by: scheduler) }
      guard setting == present else { return }
      if !repeats { cancel() }
      action()
    }
    let timer = start { [gate] in if let gate { gate.run(fire) } else { fire() } }
    // A scheduler may fire within the call that sets the alarm.
    if setting == present { self.timer = timer } else { timer.cancel() }
    earlier?.cancel()
    if let hold, isSet != (earlier != nil) { isSet ? hold.hold() : hold.letGo() }
  }

  @usableFromInline func cancel() {
    setting &+= 1
    timer.take()?.cancel()
    hold?.letGo()
  }
}
