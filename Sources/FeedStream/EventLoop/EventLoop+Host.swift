internal import CLibUV

/// Runs a loop that nobody calls ``EventLoop/run(_:)`` on: a turn whenever there is something to do.
package protocol LoopHost: AnyObject, Sendable {
  /// True when the calling code may use the loop.
  var isHere: Bool { get }

  /// Requests a turn soon. Called between turns, where the host is.
  func wake()
}

extension EventLoop {
  /// A loop for `host` to run, for as long as the process lasts.
  convenience init(host: any LoopHost) {
    self.init(owner: 0, host: host)
    // Not one of those that somebody has to close.
    EventLoop.open.subtract(1, ordering: .relaxed)
    runsUntilStopped = true
    updateWaiting()
  }

  /// Readable when something has happened that a turn takes care of.
  var backendDescriptor: Int32 { uv_backend_fd(uv) }

  /// Runs one turn, which does not wait.
  ///
  /// - Returns: the milliseconds after which the next turn is due, unless something happens before; negative for never.
  func runHostedTurn() -> Int {
    let outer = enter()
    defer { leave(outer) }
    collectMail()
    beginWatchingTurns()
    uv_run(uv, UV_RUN_NOWAIT)
    endWatchingTurns()
    uv_update_time(uv)
    return Int(uv_backend_timeout(uv))
  }
}
