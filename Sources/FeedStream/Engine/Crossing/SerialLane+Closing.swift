import Synchronization

/// Cancellations, which run even in a closed lane.
extension SerialLane {
  package func bringCancellation(_ cancel: @escaping @Sendable () -> Void) { end(cancel) }

  /// Drops all events that wait in the lane, and runs `cancel` there. Safe to use from any thread.
  func revoke(_ cancel: @escaping () -> Void) {
    signals.bitwiseOr(Signals.revoked.rawValue, ordering: .releasing)
    end(cancel)
  }

  /// Runs `cancel` in the lane: after the work that waits there, or earlier if the current piece of work calls
  /// ``runWaitingCancellations()`` or follows such a piece. In a closed lane, whose queue or loop runs no more work,
  /// `cancel` runs on this thread, or on the one that is running another cancellation.
  func end(_ cancel: @escaping () -> Void) {
    let (isClosed, duty) = state.withLock { state in
      state.cancellations.append(cancel)
      signals.bitwiseOr(Signals.hasCancellation.rawValue, ordering: .relaxed)
      if !state.isClosed { append({ [self] in runCancellation() }, to: &state) }
      return (state.isClosed, state.takeOver())
    }
    if !isClosed { perform(duty) } else if duty == .begin { runCancellations() }
  }

  /// Runs the cancellations that wait behind the current piece of work, which may never end. Call this in the lane.
  func runWaitingCancellations() {
    while let cancel = state.withLock({ popCancellation(from: &$0) }) { cancel() }
  }

  // Finds nothing, or a later cancellation, if the cancellation has already run.
  private func runCancellation() { state.withLock { popCancellation(from: &$0) }?() }

  private func popCancellation(from state: inout State) -> (() -> Void)? {
    let cancel = state.cancellations.popFirst()
    if state.cancellations.isEmpty {
      signals.bitwiseAnd(~Signals.hasCancellation.rawValue, ordering: .relaxed)
    }
    return cancel
  }

  /// Runs the cancellations of a closed lane until there are no more.
  private func runCancellations() {
    isRunning = true
    inside {
      while let cancel = nextCancellation() { cancel() }
    }
  }

  /// The next cancellation; if there is none, the lane is free when this returns.
  private func nextCancellation() -> (() -> Void)? {
    state.withLock { state in
      if let cancel = popCancellation(from: &state) { return cancel }
      isRunning = false
      runner.store(0, ordering: .relaxed)
      state.isBusy = false
      return nil
    }
  }

  /// True after `revoke`: waiting events must not be delivered.
  @usableFromInline var isOver: Bool { currentSignals.contains(.revoked) }

  @usableFromInline var currentSignals: Signals { Signals(rawValue: signals.load(ordering: .acquiring)) }

  /// Calls `action`, on any thread, when the lane's loop has been closed and the lane runs no more work.
  func whenClosed(_ action: @escaping () -> Void) {
    let isClosed = state.withLock { state in
      if !state.isClosed { state.whenClosed = action }
      return state.isClosed
    }
    if isClosed { action() }
  }

  /// Called when the loop has been closed while it still held work of the lane.
  func close() {
    let (work, action, waits) = state.withLock { state in
      state.isClosed = true
      return (state.work.take(), state.whenClosed.take(), state.waits)
    }
    _ = consume work
    for _ in 0...waits { letGo(place) }
    action?()
    // The lane was busy with work that never ran, so it now belongs to this thread.
    runCancellations()
  }
}
