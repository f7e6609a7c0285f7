internal import CLibUV
import Synchronization

/// Measures a loop's turns, for warnings about long turns, for the map, and for ``EventLoop/onTurn(_:)``.
struct TurnWatch {
  // Freed in the handle's close callback, like all handles of a loop.
  fileprivate var handle: UnsafeMutablePointer<uv_prepare_t>?
  fileprivate var isWatching = false
  /// True if the current run is one turn, which doesn't wait.
  var isOneTurn = false
  /// The state that the monitor reads; made when the loop first runs with warnings on.
  fileprivate var state: TurnState?
  /// Receives the length of each turn (``EventLoop/onTurn(_:)``).
  fileprivate var onTurn: ((Duration) -> Void)?
  /// The start of the current turn, and the total time that the loop had spent waiting before it, in nanoseconds.
  fileprivate var mark: (began: UInt64, waited: UInt64) = (0, 0)
}

extension EventLoop {
  /// Called when a run begins, on the thread that runs the loop. Without warnings, the map, or a handler, the loop
  /// measures nothing.
  func beginWatchingTurns() {
    turnWatch.isWatching = (Warnings.watch || turnWatch.onTurn != nil) && watchTurns()
    guard turnWatch.isWatching else {
      if let handle = turnWatch.handle { uv_prepare_stop(handle) }
      return
    }
    turnWatch.mark = (uv_hrtime(), uv_metrics_idle_time(uv))
    // Code that ran since the last turn ended is not part of this one.
    subscriptions?.map?.turnBegins()
    guard Warnings.areOn else { return }
    let state = turnWatch.state ?? TurnMonitor.shared.add(uv)
    turnWatch.state = state
    state.begin(waited: uv_metrics_idle_time(uv), onMainQueue: isOnMainQueue)
    TurnMonitor.shared.aLoopRuns()
  }

  /// Called when a run ends, on its thread.
  func endWatchingTurns() {
    turnEnded()
    turnWatch.state?.end()
  }

  /// Called when the loop is being closed.
  func forgetTurns() {
    if let state = turnWatch.state.take() { TurnMonitor.shared.remove(state) }
  }

  /// - Returns: true if the loop reports the end of each turn.
  private func watchTurns() -> Bool {
    if turnWatch.handle == nil {
      guard clibuv_measure_waiting(uv) == 0 else { return false }
      let handle = UnsafeMutablePointer<uv_prepare_t>.allocate(capacity: 1)
      uv_prepare_init(uv, handle)
      handle.pointee.data = nil
      uv_unref(uvHandle(handle))
      turnWatch.handle = handle
    }
    let code = uv_prepare_start(turnWatch.handle) { handle in
      let loop = EventLoop.of(handle!.pointee.loop)
      // Without a wait, the turn continues with the events that have occurred.
      if !loop.turnWatch.isOneTurn { loop.turnEnded() }
    }
    return code == 0
  }

  /// Called before the loop waits, and when a run ends.
  private func turnEnded() {
    guard turnWatch.isWatching else { return }
    subscriptions?.map?.turnBegins()
    LiveMap.turnBegins()
    turnWatch.state?.next(waited: uv_metrics_idle_time(uv))
    guard let onTurn = turnWatch.onTurn else { return }
    let (now, waited) = (uv_hrtime(), uv_metrics_idle_time(uv))
    let length = (now &- turnWatch.mark.began) &- (waited &- turnWatch.mark.waited)
    turnWatch.mark = (now, waited)
    onTurn(.nanoseconds(Int64(clamping: length)))
  }

  /// Calls `handler` before each wait of the loop, and when a run ends, with the length of the turn: the time since the
  /// last wait or the beginning of the run, during which timers and I/O were delayed.
  ///
  /// There is at most one handler, and none by default; `nil` removes it. The handler runs on the loop, and the time
  /// that it takes counts as part of the next turn.
  public func onTurn(_ handler: ((Duration) -> Void)?) {
    checkOwner("onTurn")
    turnWatch.onTurn = handler
    if isCurrent { beginWatchingTurns() }
  }

  /// The number of active libuv handles that keep the loop running, such as sockets and watched files. All timers of
  /// the loop share one handle.
  public var activeHandleCount: Int {
    checkOwner("activeHandleCount")
    return isClosed ? 0 : Int(uv.pointee.active_handles)
  }

  package func mapBegan() {
    if isCurrent, !turnWatch.isWatching { beginWatchingTurns() }
  }

  package var label: String {
    if let name = entrance.knownName { return name }
    #if os(Linux)
      if entrance.host == nil, clibuv_is_main_thread() { return "the main thread" }
    #endif
    // Under `dispatchMain()` and in an asynchronous `main`, the queue's threads change, and Dispatch names them.
    if entrance.host != nil || MainQueue.isHere { return "the main queue" }
    var buffer = [CChar](repeating: 0, count: 64)
    guard clibuv_thread_get_name(&buffer, buffer.count) == 0 else { return "a thread" }
    return "thread " + String(decoding: buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }

  /// True if the loop runs in code on the main queue, on a Dispatch thread or as that queue's own loop.
  fileprivate var isOnMainQueue: Bool { entrance.host != nil || mainQueue.isBlocked && !mainQueue.isOnMainThread }
}

/// The current turn of a loop, written by the loop's thread and read by the monitor's.
final class TurnState: Sendable {
  private let began = Atomic<UInt64>(0)
  private let waited = Atomic<UInt64>(0)
  // Allocated, because a signal handler reads it by its address (`StackRequest`).
  nonisolated(unsafe) private let turn: UnsafeMutablePointer<Atomic<UInt64>>
  private let thread = Atomic<Int32>(0)
  private let isOnMainQueue = Atomic(false)

  /// A turn that is running.
  struct Turn {
    let number: UInt64
    let began: UInt64
    /// The total time that the loop had spent waiting when the turn began, in nanoseconds.
    let waited: UInt64
    /// The kernel's ID of the thread that runs the turn.
    let thread: Int32
    let isOnMainQueue: Bool

    /// The name of the thread or queue that runs the turn.
    var runner: String { isOnMainQueue ? "the main queue" : ThreadNames.name(of: thread) }
  }

  init() {
    turn = .allocate(capacity: 1)
    turn.initialize(to: Atomic(0))
  }

  deinit {
    turn.deinitialize(count: 1)
    turn.deallocate()
  }

  /// The address of the current turn's number.
  var number: UnsafePointer<UInt64> { UnsafePointer(UnsafeRawPointer(turn).assumingMemoryBound(to: UInt64.self)) }

  func begin(waited: UInt64, onMainQueue: Bool) {
    next(waited: waited)
    isOnMainQueue.store(onMainQueue, ordering: .relaxed)
    thread.store(TurnMonitor.admitThread(), ordering: .sequentiallyConsistent)
  }

  func next(waited: UInt64) {
    // Store in this order, so that a reader that sees only some of the stores underestimates the turn's length.
    began.store(uv_hrtime(), ordering: .relaxed)
    self.waited.store(waited, ordering: .releasing)
    turn.pointee.add(1, ordering: .releasing)
  }

  func end() { thread.store(0, ordering: .releasing) }

  var isRunning: Bool { thread.load(ordering: .sequentiallyConsistent) != 0 }

  /// The current turn; `nil` when the loop is not running.
  func read() -> Turn? {
    let number = turn.pointee.load(ordering: .acquiring)
    let waited = self.waited.load(ordering: .acquiring)
    let began = self.began.load(ordering: .relaxed)
    let thread = self.thread.load(ordering: .acquiring)
    guard thread != 0, number == turn.pointee.load(ordering: .acquiring) else { return nil }
    return Turn(
      number: number, began: began, waited: waited, thread: thread,
      isOnMainQueue: isOnMainQueue.load(ordering: .relaxed))
  }
}
