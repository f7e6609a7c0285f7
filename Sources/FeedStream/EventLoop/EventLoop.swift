internal import CLibUV
import Synchronization

/// A libuv event loop: the thread on which streams live.
///
///     let loop = EventLoop()
///     loop.schedule(after: loop.now.advanced(by: .seconds(1))) { print("a second later") }
///     loop.run()  // Prints "a second later"
///
/// An event loop is a ``Scheduler``, so that time operators run on it, and a Swift `SerialExecutor`, so that an actor
/// can live on it. Everything except ``execute(_:file:line:)``, ``enqueue(_:)``, ``stop()``, ``now`` and ``isCurrent``
/// belongs to one thread and traps on any other. That thread is the one that created the loop or, once the loop has
/// run, the one that last ran it.
///
/// Each turn of the loop fires the timers that are due, runs the work that was scheduled before the turn began, and
/// then waits for I/O. Work scheduled during a turn waits for the next one, so that I/O and timers never starve.
///
/// Time is monotonic: it does not jump with the wall clock and, on Linux, does not advance while the machine is
/// suspended.
// @unchecked: the entrance, the atomics and `gate` are safe from any thread; only the owner uses everything else, which
// `checkOwner` enforces.
public final class EventLoop: @unchecked Sendable {
  /// The condition under which ``run(_:)`` returns.
  public enum RunMode: Sendable {
    /// When nothing is left to do: there is no scheduled work, timer, offloaded work, or open handle that keeps the
    /// loop alive; no live stream waits for a result from outside (an asynchronous sequence, a task, a promise, a
    /// sender); and no value is in transit to a queue, a run loop or a task.
    case untilIdle
    /// When ``stop()`` is called; until then, the loop waits for work from other threads.
    case untilStopped
    /// After one turn that does not wait.
    case oneTurn
  }

  // libuv's structures are allocated, never moved, and freed in their close callbacks (the loop: after
  // `uv_loop_close`).
  let uv: UnsafeMutablePointer<uv_loop_t>
  let clock: UnsafeMutablePointer<uv_timer_t>
  let idle: UnsafeMutablePointer<uv_idle_t>

  let entrance: LoopEntrance
  let lateJobs = LateJobs()
  var received = Mailbox.Mail()
  let runner = Atomic<UInt>(0)
  var isStopping = false
  var isClosed = false
  /// True if only `stop()` ends the current run.
  var runsUntilStopped = false
  /// The number of results for which live streams wait (`EventLoop+Waiting.swift`), and the functions to call when the
  /// loop closes.
  var waits = 0
  var closers: [ObjectIdentifier: () -> Void] = [:]
  /// Warns about values that no task iterates (`EventLoop+Waiting.swift`).
  var readerAlarm: (any Cancellable)?
  package let subscriptions: LiveSubscriptions?
  /// Measures turns for warnings, for the map, and for `onTurn` (`EventLoop+Warnings.swift`).
  var turnWatch = TurnWatch()
  /// Serves the main queue while the main thread runs the loop (`EventLoop+MainQueue.swift`).
  var mainQueue = MainQueueService()

  // The state of the extensions in other files: work for the next turn, timed work, work for the thread pool.
  @exclusivity(unchecked) var ready = Ready()
  @exclusivity(unchecked) var timerWasCancelled: (TimerQueue.Work) -> Void = { _ in }
  @exclusivity(unchecked) var timers = TimerQueue()
  @exclusivity(unchecked) var timing = Timing()
  var waitingForThreads = ContiguousArray<Offload>()
  @exclusivity(unchecked) var offloadsInPool = 0
  /// True when the last wait for threads ended without any becoming available.
  var hasDoneWithoutThreads = false
  let gate = OffloadGate()
  /// State that handles of higher layers share on this loop: those that read, and those that watch folders.
  @exclusivity(unchecked) var shared: AnyObject?
  var sharedByWatches: AnyObject?

  /// Makes a loop that belongs to the calling thread.
  ///
  /// - Precondition: the process may open seven more file descriptors for its first loop, or five for a later one.
  public convenience init() {
    self.init(owner: CurrentDomain.threadNumber)
    EarlyHolds.adopt(by: self)
    subscriptions?.adoptEarlier()
  }

  init(owner: UInt, host: (any LoopHost)? = nil, threadName: String? = nil) {
    entrance = LoopEntrance(owner: owner, host: host, threadName: threadName)
    subscriptions = LiveSubscriptions(host == nil ? entrance.firstRun : nil)
    _ = EventLoop.fillStandardStreams
    uv = .allocate(capacity: 1)
    clock = .allocate(capacity: 1)
    idle = .allocate(capacity: 1)
    let code = uv_loop_init(uv)
    precondition(
      code == 0,
      "EventLoop: \(String(cString: uv_strerror(code))); a loop needs up to 7 descriptors: raise the limit (ulimit -n)"
    )
    uv.pointee.data = Unmanaged.passUnretained(self).toOpaque()
    uv_timer_init(uv, clock)
    uv_idle_init(uv, idle)
    let wakeCode = openWakeUp()
    precondition(
      wakeCode == 0,
      "EventLoop: \(String(cString: uv_strerror(wakeCode))); a loop needs a wake-up descriptor: raise the limit (ulimit -n)"
    )
    for handle in [uvHandle(clock), uvHandle(idle), uvHandle(entrance.wakeUp)] { handle.pointee.data = nil }
    uv_unref(uvHandle(entrance.wakeUp))
    // One closure for all timers. It can't outlive the loop: a timer that can still be cancelled is in the loop's
    // queue.
    timerWasCancelled = { [unowned self] _ in removeCancelledTimer() }
    EventLoop.open.add(1, ordering: .relaxed)
    entrance.lead(to: self)
    ThreadLoops.add(self)
  }

  /// Opens missing standard streams, once, because a process may have been started without them.
  private static let fillStandardStreams: Void = clibuv_fill_standard_streams()

  /// The number of open loops in the process. For tests, which must leave none open.
  package static let open = Atomic(0)

  deinit {
    if !isClosed {
      entrance.firstRun.warnOfStreams()
      entrance.wasReleased.store(true, ordering: .relaxed)
      tearDown()
    }
  }

  /// The event loop that owns libuv's loop `uv`, for libuv's callbacks.
  static func of(_ uv: UnsafeMutablePointer<uv_loop_t>!) -> EventLoop {
    Unmanaged.fromOpaque(uv.pointee.data).takeUnretainedValue()
  }
}

// MARK: - Running

extension EventLoop: StreamDomain {
  /// True when the calling thread owns the loop, and may use objects that live on it.
  package var isHere: Bool {
    if let host = entrance.host { return host.isHere }
    // `isCurrent` compares the system's thread ID, which is cheaper to read. The ID may be reused, but not while
    // the thread runs the loop.
    return isCurrent || entrance.owner.load(ordering: .relaxed) == CurrentDomain.threadNumber
  }

  /// Runs the loop on the calling thread, which owns it from now on.
  ///
  /// After this returns, the loop can be run again.
  ///
  /// On the main thread, the loop also serves the main queue, and with it the main actor: a `Task` in `main.swift` that
  /// awaits values runs while the loop does. In ``RunMode/untilIdle``, the loop doesn't wait for work that the main
  /// queue will receive later, such as that of `asyncAfter`. The loop can't serve the main queue if code on that queue
  /// calls this method; in an asynchronous `main`, use ``main`` or an ``EventLoopThread``.
  ///
  /// - Precondition: the loop is neither running nor closed.
  public func run(_ mode: RunMode = .untilIdle) {
    precondition(
      entrance.host == nil,
      """
      EventLoop.run: the main queue already runs this loop; use EventLoop() instead of EventLoop.main, or let \
      RunLoop.main.run() or an asynchronous main run the main queue
      """)
    let outer = enter()
    runsUntilStopped = mode == .untilStopped
    updateWaiting()
    defer {
      runsUntilStopped = false
      entrance.holds.isAwaited.store(false, ordering: .sequentiallyConsistent)
      updateWaiting()
      isStopping = false
      leave(outer)
    }
    if entrance.mailbox.takeStopRequest() { return }
    updateMainQueueService(for: mode)
    turnWatch.isOneTurn = mode == .oneTurn
    beginWatchingTurns()
    if mode == .oneTurn {
      collectMail()
      serveMainQueue()
      uv_run(uv, UV_RUN_NOWAIT)
      endWatchingTurns()
      return
    }
    // Neither the wake-up handle nor the main queue's handle keeps libuv's loop alive, so work may have arrived after
    // libuv's last check. Handle it here. A value in transit posts its work before it stops keeping the loop running,
    // so check for values in transit first.
    repeat {
      uv_run(uv, UV_RUN_DEFAULT)
    } while !isStopping
      && (mustHold() || collectMail() || serveMainQueue() || uv_loop_alive(uv) != 0)
    endWatchingTurns()
    if mode == .untilIdle, !isStopping, Warnings.areOn {
      subscriptions?.loopReturned()
      if mainQueue.isServing { TaskReaders.loopReturned() }
    }
  }

  /// Makes the calling thread the one that runs the loop.
  func enter() -> UnsafeMutableRawPointer? {
    precondition(!isClosed, "EventLoop.run: the loop is closed; make a new one")
    let thread = currentThread()
    let (entered, _) = runner.compareExchange(expected: 0, desired: thread, ordering: .acquiringAndReleasing)
    entrance.firstRun.hasBegun.store(true, ordering: .relaxed)
    precondition(
      entered, "EventLoop.run: the loop is already running; stop() it first, or give it work with execute { }")
    if entrance.host == nil { entrance.owner.store(CurrentDomain.threadNumber, ordering: .releasing) }
    return CurrentDomain.enter(self)
  }

  func leave(_ outer: UnsafeMutableRawPointer?) {
    CurrentDomain.leave(outer)
    runner.store(0, ordering: .releasing)
  }

  /// Makes ``run(_:)`` return at the end of the current turn. Safe to use from any thread.
  ///
  /// If the loop is not running, the next call to ``run(_:)`` returns immediately. Scheduled work stays scheduled.
  public func stop() {
    precondition(
      entrance.host == nil, "EventLoop.stop: the main queue runs this loop until the program ends; use another loop")
    #if DEBUG
      SubscriptionWatch.somethingHappens()
    #endif
    if isCurrent {
      isStopping = true
      uv_stop(uv)
    } else {
      entrance.mailbox.requestStop { entrance.wake() }
    }
  }

  /// True when the calling thread is running this loop.
  public var isCurrent: Bool { runner.load(ordering: .relaxed) == currentThread() }

  /// The loop that the calling thread is running; the innermost one if runs are nested.
  public static var current: EventLoop? { CurrentDomain.get() as? EventLoop }

  /// Traps on a thread that does not own the loop.
  @inline(__always) func checkOwner(_ function: StaticString = #function) {
    #if DEBUG
      SubscriptionWatch.somethingHappens()
    #endif
    if !isHere { EventLoop.refuse(function) }
    // Between turns, the host doesn't notice new work on its own.
    if let host = entrance.host, !isCurrent { host.wake() }
  }
}
