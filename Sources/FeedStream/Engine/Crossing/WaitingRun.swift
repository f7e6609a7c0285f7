/// The run of a repetition that waits on a queue or in a home: at most one at a time.
struct WaitingRun {
  private struct State {
    var isWaiting = false
    var isCancelled = false
  }

  private let state = Locked(State())

  /// - Returns: false if an earlier run still waits.
  func begin() -> Bool { state.withLock { !exchange(&$0.isWaiting, with: true) } }

  /// Ends the wait.
  ///
  /// - Returns: false if the repetition is cancelled.
  func end() -> Bool {
    state.withLock { state in
      state.isWaiting = false
      return !state.isCancelled
    }
  }

  /// Cancels the repetition.
  ///
  /// - Returns: false if it was cancelled earlier.
  func cancel() -> Bool { state.withLock { !exchange(&$0.isCancelled, with: true) } }
}
