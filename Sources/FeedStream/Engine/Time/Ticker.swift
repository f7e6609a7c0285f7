import Synchronization

/// The message for a scheduler without time, after the operator's name.
@usableFromInline let timelessScheduler =
  "this scheduler's time does not advance; use one whose time advances, such as an EventLoop or, in tests, a VirtualTimeScheduler"

/// Ticks at a regular interval, at most once per wake-up.
///
/// A tick is due one interval after the last one was due. If the scheduler is so late that the next tick is already
/// due, the missed ticks are skipped and the interval starts from now: there is no burst after a stall. The interval
/// also starts from now if the scheduler's clock was set back. A third-party scheduler or a run loop repeats the work
/// itself, as it does for Combine's timers. Such a scheduler decides the order of timers that are due together, and
/// what happens to missed ticks.
@usableFromInline final class Ticker<Context: Scheduler> {
  private let interval: Context.SchedulerTimeType.Stride
  private let scheduler: Context
  private let alarm: Alarm
  private let due: Due
  private let schedulerRepeats: Bool
  private var isSetting = false
  /// True once the ticker is stopped, possibly on another thread.
  private let isOver = Atomic(false)
  /// Keeps the loop running from `start` until the ticker is stopped.
  private let hold: CrossedHome?

  /// The time when the next tick is due; a separate object, so that the alarm does not keep the ticker alive.
  private final class Due {
    var date: Context.SchedulerTimeType
    init(_ date: Context.SchedulerTimeType) { self.date = date }
  }

  @usableFromInline init(
    _ interval: Context.SchedulerTimeType.Stride, _ tolerance: Context.SchedulerTimeType.Stride?, _ scheduler: Context,
    _ options: Context.SchedulerOptions?
  ) {
    self.interval = interval
    self.scheduler = scheduler
    hold = scheduler.newHoldOfTimer
    let due = Due(scheduler.now)
    self.due = due
    let timer = OneShot(scheduler, tolerance: tolerance, options: options)
    let queue = scheduler as? any QueueScheduler
    schedulerRepeats =
      !timer.canBeCancelled && (!scheduler.isQueue || queue.map { type(of: $0).repeatsTicks } ?? false)
    alarm = Alarm(of: Context.self, hold: scheduler.newHold()) { timer.start(at: due.date, period: interval, $0) }
  }

  /// Ticks after `delay`, and then at the interval, until stopped.
  @usableFromInline
  func start(after delay: Context.SchedulerTimeType.Stride, _ tick: @escaping (Context.SchedulerTimeType) -> Void) {
    due.date = scheduler.now.advanced(by: delay)
    hold?.hold()
    onScheduler { [self] in if !isOver.load(ordering: .acquiring) { waitForNext(tick) } }
  }

  /// Runs `action` immediately, or on the scheduler's queue if that queue is served elsewhere: the ticker ticks there,
  /// and uses the alarm only there.
  private func onScheduler(_ action: @escaping () -> Void) {
    guard let isHere = (scheduler as? any QueueScheduler)?.isHere, !isHere() else { return action() }
    scheduler.schedule(action)
  }

  private func waitForNext(_ tick: @escaping (Context.SchedulerTimeType) -> Void) {
    isSetting = true
    alarm.set(repeats: schedulerRepeats) { [self] in
      precondition(!isSetting, "Interval or timer: \(timelessScheduler)")
      guard !isOver.load(ordering: .acquiring) else { return }
      let now = scheduler.now
      guard !schedulerRepeats else { return tick(now) }
      let (next, fromNow) = (due.date.advanced(by: interval), now.advanced(by: interval))
      // Operation queues use the wall clock. Their timers may fire slightly early.
      due.date = next > now && next <= fromNow.advanced(by: .milliseconds(10)) ? next : fromNow
      // At the end of time, there is no next tick. (On a coarse clock, a short interval doesn't change the date either.)
      let isLast = due.date <= now && now.advanced(by: .seconds(1)) <= now
      // Set the alarm before the tick, which may stop the ticker.
      if !isLast { waitForNext(tick) }
      tick(now)
    }
    isSetting = false
  }

  @usableFromInline func stop() {
    isOver.store(true, ordering: .releasing)
    onScheduler { [self] in alarm.cancel() }
    hold?.letGo()
  }

  /// Traps unless the scheduler has time, and the interval is more than zero.
  @inlinable static func check(_ interval: Context.SchedulerTimeType.Stride, _ name: StaticString) {
    precondition(Context.SchedulerTimeType.Stride.seconds(1) > .zero, "\(name): \(timelessScheduler)")
    precondition(interval > .zero, "\(name): interval is \(interval); use more than 0")
  }
}
