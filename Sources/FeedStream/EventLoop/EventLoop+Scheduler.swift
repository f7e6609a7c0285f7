internal import CLibUV

extension EventLoop: LoopScheduler {
  public typealias SchedulerTimeType = StreamInstant
  public typealias SchedulerOptions = Never

  /// The monotonic clock's time; safe from any thread.
  public var now: StreamInstant { StreamInstant(nanoseconds: Int64(bitPattern: uv_hrtime())) }

  /// Nothing: timers are as exact as they can be, at most about a millisecond late on an idle loop.
  public var minimumTolerance: StreamInstant.Stride { .nanoseconds(0) }

  /// Runs `action` on the next turn, after what was scheduled for it before.
  public func schedule(options: Never? = nil, _ action: @escaping () -> Void) {
    checkOwner()
    append(.work(action))
  }

  /// Runs `action` at `date`, never early; equal dates in the order they were scheduled.
  ///
  /// A date that has passed means the next turn. `tolerance` is accepted and not used.
  public func schedule(
    after date: StreamInstant, tolerance: StreamInstant.Stride, options: Never?, _ action: @escaping () -> Void
  ) {
    checkOwner()
    _ = addTimer(at: date, action)
  }

  /// Runs `action` at `date` and then every `interval` after that, without drift.
  ///
  /// After a stall (a long callback, a suspended machine) it runs once and skips the ticks that were missed, keeping the
  /// rhythm that `date` set.
  ///
  /// - Precondition: `interval` is positive.
  public func schedule(
    after date: StreamInstant, interval: StreamInstant.Stride, tolerance: StreamInstant.Stride, options: Never?,
    _ action: @escaping () -> Void
  ) -> any Cancellable {
    checkOwner()
    precondition(
      interval.nanoseconds > 0, "EventLoop.schedule: an interval of \(interval) never ends; give it a length")
    return Repetition(on: self, first: date, interval: interval, action)
  }
}

// MARK: - The next turn

extension EventLoop {
  /// Adds work for the next turn. An active idle handle makes that turn come without waiting, and keeps the loop alive.
  @inline(__always)
  func append(_ item: Mailbox.Item) {
    if ready.isEmpty {
      guard !isClosed else { return }
      beginIdling()
    }
    ready.append(item)
  }

  private func beginIdling() {
    uv_idle_start(idle) { EventLoop.of($0!.pointee.loop).turn() }
  }

  /// Runs what was there when the turn began.
  private func turn() {
    if timing.isOverdue {
      timing.isOverdue = false
      fireTimers()
    }
    swap(&ready, &draining)
    for item in draining { run(item) }
    draining.removeAll(keepingCapacity: draining.count < 65_536)
    if ready.isEmpty, !timing.isOverdue { uv_idle_stop(idle) }
  }

  @inline(__always)
  func run(_ item: Mailbox.Item) {
    switch item {
    case .work(let action): action()
    case .job(let job): job.runSynchronously(on: asUnownedSerialExecutor())
    }
  }
}

// MARK: - Timers

extension EventLoop {
  /// The state of the one libuv timer that stands for the whole queue.
  struct Timing {
    /// The deadline for which libuv's timer is set; `.max` when it is not set.
    var armed = Int64.max
    /// Whether timers wait for the next turn, not for libuv's timer.
    var isOverdue = false
    /// While timers fire: the time that they fire for.
    var firing: StreamInstant?
  }

  /// Adds timed work.
  func addTimer(at date: StreamInstant, _ action: @escaping () -> Void) -> TimerQueue.Work {
    var date = date
    // What is added while timers fire waits for the next turn, even if it is overdue.
    if let firing = timing.firing, date <= firing { date = StreamInstant(nanoseconds: firing.nanoseconds + 1) }
    let work = timers.add(at: date, onCancel: { [unowned self] _ in timerWasCancelled() }, action)
    if timing.firing == nil, date.nanoseconds < timing.armed { arm(for: date) }
    return work
  }

  private func timerWasCancelled() {
    checkOwner("cancel")
    timers.workWasCancelled()
    guard timers.count == 0, timing.firing == nil else { return }
    uv_timer_stop(clock)
    timing.armed = .max
  }

  /// Sets libuv's timer for the earliest deadline, in milliseconds rounded up: it counts them from its cached time.
  private func arm(for date: StreamInstant) {
    guard !isClosed else {
      timers.removeAll()
      return
    }
    timing.armed = date.nanoseconds
    let cached = Int64(bitPattern: uv_now(uv))
    let (whole, rest) = date.nanoseconds.quotientAndRemainder(dividingBy: 1_000_000)
    let due = rest > 0 ? whole + 1 : whole
    // Only a deadline this close can have passed without libuv's timer firing on the next turn anyway.
    if due <= cached + 1, date <= now {
      if ready.isEmpty, !timing.isOverdue { beginIdling() }
      timing.isOverdue = true
      return
    }
    uv_timer_start(clock, { EventLoop.of($0!.pointee.loop).fireTimers() }, UInt64(max(due - cached, 1)), 0)
  }

  /// Runs the timed work that is due, then sets libuv's timer for what is left.
  private func fireTimers() {
    let instant = now
    timing.firing = instant
    while let work = timers.takeDue(at: instant) { work.take()?() }
    timing.firing = nil
    timing.armed = .max
    if let next = timers.nextDeadline { arm(for: next) } else { uv_timer_stop(clock) }
  }
}

/// Work that repeats; each deadline is computed from the one before.
private final class Repetition: Cancellable {
  private let loop: EventLoop
  private let interval: Int64
  private var action: (() -> Void)?
  private var work: TimerQueue.Work?

  init(on loop: EventLoop, first: StreamInstant, interval: StreamInstant.Stride, _ action: @escaping () -> Void) {
    self.loop = loop
    self.interval = interval.nanoseconds
    self.action = action
    // A rhythm that began before time did would have to be caught up with.
    wait(until: max(first, StreamInstant(nanoseconds: 0)))
  }

  func cancel() {
    action = nil
    work?.cancel()
    work = nil
  }

  private func wait(until date: StreamInstant) {
    work = loop.addTimer(at: date) { self.tick(date) }
  }

  private func tick(_ date: StreamInstant) {
    guard let action else { return }
    // Before the action, so that it comes after no other work of the next deadline's that the action schedules.
    let missed = Swift.max(0, loop.now.nanoseconds &- date.nanoseconds) / interval
    let (next, overflow) = date.nanoseconds.addingReportingOverflow((missed + 1) * interval)
    wait(until: StreamInstant(nanoseconds: overflow ? .max : next))
    action()
  }
}
