import FeedStream

extension VirtualTimeScheduler: LoopScheduler {
  public var minimumTolerance: StreamInstant.Stride { 0 }

  public func schedule(options: Never?, _ action: @escaping () -> Void) { agenda.add(.action(action, callerOrigin)) }

  public func schedule(
    after date: StreamInstant, tolerance: StreamInstant.Stride, options: Never?, _ action: @escaping () -> Void
  ) {
    _ = agenda.add(at: date, callerOrigin, action)
  }

  /// Runs `action` at `date` and then every `interval`, counted from `date`. As on an event loop, the action runs once
  /// after a stall, and missed runs are skipped.
  ///
  /// - Precondition: `interval` is more than zero.
  public func schedule(
    after date: StreamInstant, interval: StreamInstant.Stride, tolerance: StreamInstant.Stride, options: Never?,
    _ action: @escaping () -> Void
  ) -> any Cancellable {
    Repetition(self, callerOrigin, from: date, every: interval, action)
  }

  /// Runs `work` at this instant and delivers its result ``offloadLatency`` later.
  ///
  /// These are two steps, so that a test can check the state between them.
  @discardableResult public func offload<T>(
    _ work: @escaping @Sendable () -> T, completion: @escaping (T) -> Void
  ) -> any Cancellable {
    let errand = Errand(self)
    errand.step = agenda.add(at: now, .offload) {
      let result = work()
      let time = errand.scheduler
      errand.step = time.agenda.add(at: time.now.advanced(by: time.offloadLatency), .offload) {
        errand.step = nil
        completion(result)
      }
    }
    return errand
  }
}

extension VirtualTimeScheduler {
  /// Runs `action` at this instant, after work that was scheduled earlier. ``pending`` shows the line of the call.
  public func schedule(
    fileID: StaticString = #fileID, filePath: StaticString = #filePath, line: UInt = #line, column: UInt = #column,
    _ action: @escaping () -> Void
  ) {
    agenda.add(.action(action, .line(CallSite(fileID: fileID, filePath: filePath, line: line, column: column))))
  }

  /// Runs `action` at `date`. ``pending`` shows the line of the call.
  public func schedule(
    after date: StreamInstant, fileID: StaticString = #fileID, filePath: StaticString = #filePath, line: UInt = #line,
    column: UInt = #column, _ action: @escaping () -> Void
  ) {
    _ = agenda.add(at: date, .line(CallSite(fileID: fileID, filePath: filePath, line: line, column: column)), action)
  }

  /// Runs `action` at `date` and then every `interval`, without the runs that a stall made it miss. ``pending`` shows
  /// the line of the call.
  public func schedule(
    after date: StreamInstant, interval: StreamInstant.Stride, fileID: StaticString = #fileID,
    filePath: StaticString = #filePath, line: UInt = #line, column: UInt = #column,
    _ action: @escaping () -> Void
  ) -> any Cancellable {
    Repetition(
      self, .line(CallSite(fileID: fileID, filePath: filePath, line: line, column: column)), from: date,
      every: interval, action)
  }
}

extension VirtualTimeScheduler: RevokingScheduler {
  package func scheduleOnce(after date: StreamInstant, _ action: @escaping () -> Void) -> (any Cancellable)? {
    alarm(at: date, callerOrigin, action)
  }
}

extension VirtualTimeScheduler {
  /// Runs `action` at `date`, once; until then, it can be cancelled.
  package func alarm(at date: StreamInstant, _ note: OriginNote, _ action: @escaping () -> Void) -> any Cancellable {
    let errand = Errand(self)
    errand.step = agenda.add(at: date, note) {
      errand.step = nil
      action()
    }
    return errand
  }
}

/// Repeating work.
private final class Repetition: Cancellable {
  private let scheduler: VirtualTimeScheduler
  private let origin: OriginNote
  private let interval: StreamInstant.Stride
  @exclusivity(unchecked) private var action: (() -> Void)?
  @exclusivity(unchecked) private var upcoming: TimerQueue.Work?

  init(
    _ scheduler: VirtualTimeScheduler, _ origin: OriginNote, from date: StreamInstant,
    every interval: StreamInstant.Stride, _ action: @escaping () -> Void
  ) {
    precondition(
      interval.nanoseconds > 0,
      "schedule(after:interval:): an interval of \(interval.nanoseconds.asTime) would repeat forever at one instant; "
        + "use more than zero")
    self.scheduler = scheduler
    self.origin = origin
    self.interval = interval
    self.action = action
    // A repetition that started before time zero would have to catch up.
    wait(until: max(date, min(scheduler.now, StreamInstant(nanoseconds: 0))), in: nil)
  }

  private func wait(until date: StreamInstant, in place: UInt64?) {
    upcoming = scheduler.agenda.add(at: date, in: place, origin) { [self] in
      upcoming = nil
      // Reserve a position, so that the next run comes before work that the action schedules for the same time. Don't
      // add the next run yet: most repeating work is a deadline that its action cancels.
      let place = scheduler.agenda.takePlace()
      let next = TimerQueue.nextRun(after: date, every: interval.nanoseconds, now: scheduler.now)
      action?()
      // At the end of time, there is no next run.
      if action != nil, next > date { wait(until: next, in: place) }
    }
  }

  func cancel() {
    action = nil
    guard let upcoming else { return }
    self.upcoming = nil
    scheduler.agenda.cancel(upcoming)
  }
}

/// Cancellable work with one pending step at a time, such as offloaded work and then its result.
final class Errand: Cancellable {
  let scheduler: VirtualTimeScheduler
  @exclusivity(unchecked) var step: TimerQueue.Work?

  init(_ scheduler: VirtualTimeScheduler) { self.scheduler = scheduler }

  func cancel() {
    guard let step else { return }
    self.step = nil
    scheduler.agenda.cancel(step)
  }
}
