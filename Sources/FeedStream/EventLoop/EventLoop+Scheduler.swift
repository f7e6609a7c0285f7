internal import CLibUV

extension EventLoop: LoopScheduler {
  public typealias SchedulerTimeType = StreamInstant
  public typealias SchedulerOptions = Never

  /// The time of the monotonic clock. Safe to use from any thread.
  public var now: StreamInstant { StreamInstant(nanoseconds: Int64(bitPattern: uv_hrtime())) }

  /// Zero: timers are as exact as possible, at most about a millisecond late on an idle loop.
  public var minimumTolerance: StreamInstant.Stride { .nanoseconds(0) }

  /// Runs `action` on the next turn, after the work already scheduled for that turn.
  public func schedule(options: Never? = nil, _ action: consuming @escaping () -> Void) {
    checkOwner()
    append(action)
  }

  /// Runs `action` at `date`, never early; work for equal dates runs in the order in which it was scheduled.
  ///
  /// If the date has passed, the action runs on the next turn. `tolerance` is accepted but not used.
  public func schedule(
    after date: StreamInstant, tolerance: StreamInstant.Stride, options: Never?, _ action: @escaping () -> Void
  ) {
    checkOwner()
    _ = addTimer(at: date, action)
  }

  /// Runs `action` at `date` and then every `interval` after that, without drift.
  ///
  /// After a stall (a long callback or a suspended machine), the action runs once, and missed ticks are skipped; later
  /// ticks stay aligned to `date`.
  ///
  /// - Precondition: `interval` is positive.
  public func schedule(
    after date: StreamInstant, interval: StreamInstant.Stride, tolerance: StreamInstant.Stride, options: Never?,
    _ action: @escaping () -> Void
  ) -> any Cancellable {
    checkOwner()
    precondition(
      interval.nanoseconds > 0, "EventLoop.schedule: the interval is \(interval); use more than zero")
    // A repetition that started before time zero would have to catch up.
    return addTimer(at: max(date, StreamInstant(nanoseconds: 0)), every: interval, action)
  }
}

extension EventLoop: RevokingScheduler {
  package func scheduleOnce(after date: StreamInstant, _ action: @escaping () -> Void) -> (any Cancellable)? {
    checkOwner()
    return addTimer(at: date, action)
  }
}

// MARK: - The next turn

extension EventLoop {
  /// The work for the next turn, and storage for the work of the current turn.
  struct Ready: ~Copyable {
    var work = TurnQueue<Action>()
    var jobs = TurnQueue<UnownedJob>()
    fileprivate var running = TurnQueue<Action>()
    fileprivate var runningJobs = TurnQueue<UnownedJob>()
    /// True when the idle handle is active: it keeps the loop alive, and the next turn follows without waiting.
    fileprivate var isIdling = false
  }

  @inline(__always) func append(_ action: consuming @escaping () -> Void) {
    if !ready.isIdling, !beginIdling() { return }
    ready.work.append(Action(run: action))
  }

  func append(_ job: UnownedJob) {
    if !ready.isIdling, !beginIdling() { return }
    ready.jobs.append(job)
  }

  /// - Returns: true if there will be a next turn.
  @inline(never) private func beginIdling() -> Bool {
    guard !isClosed else { return false }
    ready.isIdling = true
    uv_idle_start(idle) { EventLoop.of($0!.pointee.loop).turn() }
    return true
  }

  /// Runs the work that was scheduled before the turn began.
  private func turn() {
    if timing.isOverdue { fireTimers() }
    swap(&ready.work, &ready.running)
    ready.running.drain { $0.run() }
    runReadyJobs()
    guard ready.work.isEmpty, ready.jobs.isEmpty, !timing.isOverdue else { return }
    uv_idle_stop(idle)
    ready.isIdling = false
  }

  func runReadyJobs() {
    guard !ready.jobs.isEmpty else { return }
    swap(&ready.jobs, &ready.runningJobs)
    ready.runningJobs.drain(run)
  }
}

// MARK: - Timers

extension EventLoop {
  /// The state of the one libuv timer that serves the whole queue of timers.
  struct Timing {
    /// The time of the next check of timers, in nanoseconds: a whole millisecond, for which libuv's timer is set;
    /// `.min` means the next turn, and `.max` means that no check is needed.
    var lookAt = Int64.max
    /// The time for which timers are currently firing.
    var firing: StreamInstant?

    /// True if timers are checked on the next turn, regardless of libuv's timer.
    var isOverdue: Bool { lookAt == .min }
  }

  /// Adds timed work.
  func addTimer(
    at date: StreamInstant, every interval: StreamInstant.Stride = 0, _ action: @escaping () -> Void
  ) -> TimerQueue.Work {
    var date = date
    // A timer that is added while timers fire waits for the next turn, even if it is overdue.
    if let firing = timing.firing, date <= firing { date = StreamInstant(nanoseconds: firing.nanoseconds + 1) }
    let work = timers.add(at: date, every: interval, onCancel: timerWasCancelled, action)
    guard !isClosed else {
      // Drop the action, as `close()` does. Cancelling the work later does nothing.
      timers.removeAll()
      return work
    }
    if timing.firing == nil, date.nanoseconds < timing.lookAt { arm(for: date) }
    return work
  }

  /// Accounts for a timer that was cancelled before it fired for the last time.
  func removeCancelledTimer() {
    checkOwner("cancel")
    timers.workWasCancelled()
    guard timers.count == 0, timing.firing == nil else { return }
    uv_timer_stop(clock)
    timing.lookAt = .max
  }

  /// Makes sure that timers are checked at `date`: by libuv's timer, rounded up to a millisecond, or on the next turn
  /// if `date` has already passed, because rounding would delay the check further.
  private func arm(for date: StreamInstant) {
    if date <= now {
      if ready.isIdling || beginIdling() { timing.lookAt = .min }
      return
    }
    let (whole, rest) = date.nanoseconds.quotientAndRemainder(dividingBy: 1_000_000)
    let due = rest > 0 ? whole + 1 : whole
    let (lookAt, overflow) = due.multipliedReportingOverflow(by: 1_000_000)
    guard overflow || lookAt < timing.lookAt else { return }
    timing.lookAt = overflow ? .max : lookAt
    // libuv counts from the time that it read at the start of the turn. If a timer's action set another timer without a
    // delay, that timer would fire in the same turn.
    let delay = max(due - Int64(bitPattern: uv_now(uv)), 1)
    uv_timer_start(clock, { EventLoop.of($0!.pointee.loop).fireTimers() }, UInt64(delay), 0)
  }

  /// Runs the timed work that is due, then sets libuv's timer for the rest.
  private func fireTimers() {
    let instant = now
    timing.firing = instant
    while let work = timers.takeDue(at: instant, now: now) { work.perform() }
    timing.firing = nil
    timing.lookAt = .max
    if let next = timers.nextDeadline { arm(for: next) } else { uv_timer_stop(clock) }
  }
}
