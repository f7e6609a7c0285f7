internal import CLibUV

/// Runs a loop in place of ``EventLoop/run(_:)``: one turn whenever there is work.
package protocol LoopHost: AnyObject, Sendable {
  /// True when the calling code may use the loop.
  var isHere: Bool { get }

  /// Requests a turn soon. Called between turns, on the host's thread.
  func wake()
}

extension EventLoop {
  /// A loop for `host` to run, for the lifetime of the process.
  convenience init(host: any LoopHost) {
    self.init(owner: 0, host: host)
    // Don't count this loop among the open ones: it is never closed.
    EventLoop.open.subtract(1, ordering: .relaxed)
    runsUntilStopped = true
    turnWatch.isOneTurn = true
    updateWaiting()
  }

  /// A descriptor that is readable when there is work for a turn.
  var backendDescriptor: Int32 { uv_backend_fd(uv) }

  /// Runs one turn without waiting for events.
  ///
  /// - Returns: the number of milliseconds until the next turn is due, unless an event occurs first; negative if none
  ///   is due.
  func runHostedTurn() -> Int {
    let outer = enter()
    defer { leave(outer) }
    // Call this first, because the work of other threads is part of the turn.
    beginWatchingTurns()
    collectMail()
    uv_run(uv, UV_RUN_NOWAIT)
    endWatchingTurns()
    uv_update_time(uv)
    return Int(uv_backend_timeout(uv))
  }
}
