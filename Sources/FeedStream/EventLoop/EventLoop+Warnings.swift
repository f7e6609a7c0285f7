internal import CLibUV

/// The measurement of a loop's turns, for the warning about turns that are too long.
struct TurnWatch {
  // Freed in its close callback, like every handle of a loop.
  fileprivate var handle: UnsafeMutablePointer<uv_prepare_t>?
  fileprivate var isWatching = false
  /// The beginning of the current turn, and the total time that the loop had waited until then, in nanoseconds.
  fileprivate var began: UInt64 = 0
  fileprivate var waited: UInt64 = 0
}

extension EventLoop {
  /// The length from which a turn causes a warning, in nanoseconds.
  private static let longestTurn: UInt64 = 1_000_000_000

  /// Called when a run begins, on the thread that runs. Without warnings, a loop measures nothing.
  func beginWatchingTurns() {
    turnWatch.isWatching = Warnings.watch && watchTurns()
    guard turnWatch.isWatching else {
      if let handle = turnWatch.handle { uv_prepare_stop(handle) }
      return
    }
    turnWatch.began = uv_hrtime()
    turnWatch.waited = uv_metrics_idle_time(uv)
  }

  /// - Returns: true if the loop reports the end of each turn.
  private func watchTurns() -> Bool {
    if turnWatch.handle == nil {
      guard clibuv_measure_waiting(uv) == 0 else { return false }
      let handle = UnsafeMutablePointer<uv_prepare_t>.allocate(capacity: 1)
      uv_prepare_init(uv, handle)
      handle.pointee.data = nil
      uv_unref(UnsafeMutableRawPointer(handle).assumingMemoryBound(to: uv_handle_t.self))
      turnWatch.handle = handle
    }
    return uv_prepare_start(turnWatch.handle) { EventLoop.of($0!.pointee.loop).turnEnded() } == 0
  }

  /// Called before the loop waits, and when it returns.
  func turnEnded() {
    guard turnWatch.isWatching else { return }
    subscriptions?.map?.turn &+= 1
    let (now, waited) = (uv_hrtime(), uv_metrics_idle_time(uv))
    let busy = (now - turnWatch.began) &- (waited - turnWatch.waited)
    (turnWatch.began, turnWatch.waited) = (now, waited)
    guard busy > Self.longestTurn, busy < .max / 2 else { return }
    let tenths = busy / 100_000_000
    Warnings.warn(
      .longTurn, at: "EventLoop of \(threadName)",
      """
      a turn took \(tenths / 10).\(tenths % 10) s, in which nothing else ran on the loop; move blocking or heavy work to \
      offload(_:completion:), SerialWorker or mapAsync
      """)
  }

  package func mapBegan() {
    if isCurrent, !turnWatch.isWatching { beginWatchingTurns() }
  }

  package var label: String { threadName }

  private var threadName: String {
    if mainQueue.isOnMainThread { return "the main thread" }
    var buffer = [CChar](repeating: 0, count: 64)
    guard clibuv_thread_get_name(&buffer, buffer.count) == 0 else { return "a thread" }
    return "thread " + String(decoding: buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }
}
