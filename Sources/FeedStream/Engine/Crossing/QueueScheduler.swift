/// A scheduler whose work runs on threads that the system chooses, such as a dispatch queue. Because neither its thread
/// nor its order can be relied on, streams cross to it (`CrossingStage`).
package protocol QueueScheduler: Scheduler {
  /// The queue's name for messages.
  var queueName: String { get }
  /// Returns true if the calling code runs on the queue's only thread; `nil` for queues with several threads.
  var isHere: (@Sendable () -> Bool)? { get }
  /// True if the queue may drop work, as an operation queue does in `cancelAllOperations()`.
  static var dropsWork: Bool { get }
  /// True if a timer lets the queue repeat its work, because scheduling each tick on its own would leak memory.
  static var repeatsTicks: Bool { get }
}

extension QueueScheduler {
  package static var dropsWork: Bool { false }
  package static var repeatsTicks: Bool { false }
}

/// A scheduler that is itself a home of streams, on its own thread. Streams with other homes cross to it.
package protocol ElsewhereScheduler: Scheduler, StreamDomain {}

/// A scheduler that passes its work on to another one.
package protocol RelayingScheduler: Scheduler {
  var elsewhere: (any ElsewhereScheduler)? { get }
}

extension Scheduler {
  /// The home of streams: this scheduler itself, or the one to which it passes its work.
  var elsewhere: (any ElsewhereScheduler)? {
    self as? any ElsewhereScheduler ?? (self as? any RelayingScheduler)?.elsewhere
  }

  /// True if this scheduler runs its work on a thread other than the calling one.
  @usableFromInline var isElsewhere: Bool { elsewhere.map { !$0.isHere } ?? false }
}

/// The place where streams live.
@usableFromInline enum Home {
  /// The home of the calling code; `nil` if it doesn't run in a loop, virtual time or a lane, and the thread has no
  /// loop of its own.
  static var current: (any StreamDomain)? { CurrentDomain.get() ?? CurrentDomain.resting() }

  /// True if the calling code runs on a loop, in virtual time or in a lane, or on a thread that owns a loop.
  // Not inlined, because a task may continue on another thread after a suspension.
  @inline(never) @usableFromInline static var exists: Bool { current != nil }

  /// True if there is no loop or queue, so that events and requests of a stream may come from several threads. If a
  /// stream crosses to a queue below, a lane without a queue brings the stream's requests, but not the values of a
  /// user's publisher.
  @inline(never) @usableFromInline static var isShared: Bool { current?.isForAnyThread ?? true }

  /// The domain that keeps running while a value is in transit from the calling thread: the thread's loop, or a
  /// stand-in for a loop that the thread makes later.
  static var holder: (any StreamDomain)? {
    isKeeping ? current ?? holderOfTask ?? EarlyHolds.ofCallingCode : nil
  }

  /// The holder of the thread that made the `values` to which the calling task subscribes.
  @TaskLocal static var holderOfTask: EarlyHolds?

  /// True when streams that are subscribed to now may keep their loop running; see ``Publisher/keepsLoopAlive(_:)``.
  @TaskLocal static var isKeeping = true
}

extension StreamDomain {
  /// Runs `action` in this domain: immediately if the calling thread may use the domain, otherwise later.
  ///
  /// - Parameter isCancellation: true to run the action even if the domain is closed.
  func perform(isCancellation: Bool = false, _ action: @escaping () -> Void) {
    guard isHere else {
      let action = Carried(uncheckedly: action)
      return isCancellation ? bringCancellation { action.value() } : bring { action.value() }
    }
    inside(action)
  }

  /// True if the calling code runs in this domain. On a domain's thread, code may run in a different domain, such as
  /// the lane of a publisher to which this domain's code has just subscribed. Streams that this code makes would then
  /// live there.
  var isCurrent: Bool {
    guard isHere else { return false }
    let domain = domainHere
    return CurrentDomain.get().map { $0 === domain } ?? !(domain is SerialLane)
  }

  /// Runs `action` in this domain. Call this only on the domain's thread.
  func performHere(_ action: () -> Void) { if isCurrent { action() } else { inside(action) } }

  private func inside(_ action: () -> Void) {
    let outer = CurrentDomain.enter(domainHere)
    action()
    CurrentDomain.leave(outer)
  }
}

/// A scheduler for time operators: its timers run on a queue, and its actions in the home of the operator's stream.
@usableFromInline struct HomeScheduler<Base: Scheduler>: Scheduler {
  let base: Base
  /// The home of the operator.
  let home: CrossedHome

  /// A scheduler for an operator that lives in the caller's home. The caller's loop keeps running while a timer is set.
  @usableFromInline static func ofCaller(_ queue: Base) -> Self {
    CurrentDomain.noteQueue()
    let holder = Home.holder
    let knownQueue = queue as? any QueueScheduler
    let isOnMainQueue = knownQueue == nil || knownQueue?.isHere != nil
    return Self(
      base: queue,
      home: CrossedHome(Home.current ?? SerialLane(holder: holder), holder: holder, isOnMainQueue: isOnMainQueue))
  }

  @usableFromInline static var _isBuiltIn: Bool { true }

  @usableFromInline var now: Base.SchedulerTimeType { base.now }
  @usableFromInline var minimumTolerance: Base.SchedulerTimeType.Stride { base.minimumTolerance }

  @usableFromInline func schedule(options: Base.SchedulerOptions?, _ action: @escaping () -> Void) {
    home.hold()
    let errand = home.errand(action)
    base.schedule(options: options) { errand.run() }
  }

  @usableFromInline func schedule(
    after date: Base.SchedulerTimeType, tolerance: Base.SchedulerTimeType.Stride, options: Base.SchedulerOptions?,
    _ action: @escaping () -> Void
  ) {
    home.hold()
    let errand = home.errand(action)
    base.schedule(after: date, tolerance: tolerance, options: options) { errand.run() }
  }

  @usableFromInline func schedule(
    after date: Base.SchedulerTimeType, interval: Base.SchedulerTimeType.Stride,
    tolerance: Base.SchedulerTimeType.Stride, options: Base.SchedulerOptions?, _ action: @escaping () -> Void
  ) -> any Cancellable {
    let run = WaitingRun()
    home.hold()
    let timer = base.schedule(after: date, interval: interval, tolerance: tolerance, options: options) { [home] in
      // While an earlier run waits in the home, another run would only follow it without a pause.
      guard run.begin() else { return }
      // It ends in the stream's home, where a cancellation usually happens.
      home.domain?.perform { if run.end() { action() } }
    }
    return Repetition(run: run, home: home, timer: timer)
  }

  private struct Repetition: Cancellable {
    let run: WaitingRun
    let home: CrossedHome
    let timer: any Cancellable

    func cancel() {
      guard run.cancel() else { return }
      timer.cancel()
      home.letGo()
    }
  }
}

extension Scheduler {
  /// An object that keeps the caller's loop running while work waits on a third-party scheduler, which may use the main
  /// queue; `nil` for other schedulers.
  @inlinable func newHold() -> CrossedHome? { Self._isBuiltIn || isQueue ? nil : CrossedHome.ofCaller() }

  /// An object that keeps the caller's loop running while a queue repeats a timer's work; `nil` if none is needed.
  var newHoldOfTimer: CrossedHome? {
    guard isQueue, let holder = Home.holder else { return nil }
    let isOnMainQueue = (self as? any QueueScheduler)?.isHere != nil
    return CrossedHome(holder, holder: holder, isOnMainQueue: isOnMainQueue)
  }

  @usableFromInline func schedule(
    holding hold: CrossedHome?, options: SchedulerOptions?, _ action: @escaping () -> Void
  ) {
    schedule(options: options, CrossedHome.held(hold, action))
  }
}

/// The home of the part above a crossing, and the loop that keeps running while a timer of the queue is pending.
@usableFromInline final class CrossedHome {
  private struct State {
    /// `nil` once the stream is over. Written in the home, and read on the queue when a timer fires.
    var domain: (any StreamDomain)?
    var holds = 0
  }

  private let state: Locked<State>
  private let holder: (any StreamDomain)?
  private let place: HoldingPlace

  /// - Parameters:
  ///   - holder: the loop that keeps running while work is pending.
  ///   - isOnMainQueue: true when the main queue, or a run loop, fires the timers.
  init(_ domain: any StreamDomain, holder: (any StreamDomain)? = nil, isOnMainQueue: Bool = false) {
    state = Locked(State(domain: domain.reference))
    self.holder = holder?.reference
    place = isOnMainQueue ? .mainQueueOrTask : .queue
  }

  @usableFromInline static func ofCaller() -> CrossedHome? {
    guard let holder = Home.holder else { return nil }
    return CrossedHome(holder, holder: holder, isOnMainQueue: true)
  }

  deinit { leave() }

  /// Wraps work that is about to be scheduled. The loop keeps running until the work has run, or until the stream that
  /// owns `hold` is over.
  @usableFromInline static func held(_ hold: CrossedHome?, _ action: @escaping () -> Void) -> () -> Void {
    guard let hold else { return action }
    hold.hold()
    return { [weak hold] in
      action()
      hold?.letGo()
    }
  }

  var domain: (any StreamDomain)? {
    get { state.withLock { $0.domain } }
    set { state.withLock { $0.domain = newValue?.reference } }
  }

  /// Called when work is scheduled. Safe to use from any thread, as is `letGo`.
  func hold() {
    guard let holder else { return }
    state.withLock { state in
      guard state.domain != nil else { return }
      state.holds += 1
      holder.hold(place)
    }
  }

  func letGo() {
    guard let holder else { return }
    let wasHeld = state.withLock { state in
      guard state.holds > 0 else { return false }
      state.holds -= 1
      return true
    }
    if wasHeld { holder.letGo(place) }
  }

  /// Scheduled work. If the queue drops it, as an operation queue does in `cancelAllOperations()`, it is due immediately:
  /// nothing is lost, and no loop waits forever.
  func errand(_ action: @escaping () -> Void) -> LoopErrand {
    LoopErrand({ [self] in run(action) }, dropped: { [self] in run(action) })
  }

  /// Runs scheduled work that is due.
  func run(_ action: @escaping () -> Void) {
    domain?.perform(action)
    letGo()
  }

  /// Called when the stream is over: releases the loop.
  func leave() {
    let (domain, holds) = state.withLock { state in
      defer { state = State() }
      return (state.domain, state.holds)
    }
    for _ in 0..<holds { holder?.letGo(place) }
    withExtendedLifetime(domain) {}
  }
}
