import Synchronization

/// Runs the lane's work, on its queue or on the threads that take turns.
extension SerialLane {
  /// Begins to run the work of a lane that was free. The loop waits for this work, which another thread may be running.
  func begin() {
    hold(place)
    drainWhereItRuns()
  }

  func drainWhereItRuns() {
    guard let start else { return drain() }
    let errand = LoopErrand({ self.drain() }, dropped: { self.restarts ? self.drainWhereItRuns() : self.close() })
    start { errand.run() }
  }

  func drain() {
    var stop = Stop.free
    isRunning = true
    turnEnds = false
    if start != nil { began = .now }
    inside { stop = runWork() }
    switch stop {
    case .free: return
    case .turn:
      isRunning = false
      drainWhereItRuns()
    case .left: Task.detached { self.drainWhatIsLeft() }
    case .kept:
      isHeld = true
      stopRunning()
    }
  }

  private func runWork() -> Stop {
    var left = Self.turn
    while keepers == 0 {
      if left == 0 {
        if start != nil { return .turn }
        if leavesWork() { return .left }
        left = Self.turn
      }
      guard let action = next() else { return .free }
      action()
      left = turnEnds ? 0 : left - 1
    }
    return .kept
  }

  /// The reason why a thread stops running the lane's work.
  private enum Stop {
    /// There is no more work.
    case free
    /// The queue gets a turn.
    case turn
    /// Another thread gets a turn.
    case left
    /// A gate around the call has begun to keep the lane occupied.
    case kept
  }

  /// Called at the end of a turn in a lane without a queue. Lets another thread run the rest if other threads keep
  /// adding work; otherwise, this thread might never return to its caller.
  ///
  /// - Returns: false if this thread continues.
  private func leavesWork() -> Bool {
    state.withLock { state in
      guard state.isFed, !state.work.isEmpty else { return false }
      isRunning = false
      runner.store(0, ordering: .relaxed)
      state.isLeft = true
      return true
    }
  }

  /// Runs the work that a thread has left, unless another thread already does.
  private func drainWhatIsLeft() {
    perform(state.withLock { $0.isLeft ? $0.takeOver() : .none })
  }

  /// Lets the queue have a turn after the current piece of work.
  @usableFromInline func endTurn() { turnEnds = start != nil }

  /// Called by a piece of work that can continue as another piece. If the lane has run for a long time, ends the turn
  /// after the piece, so that other work runs on the queue.
  @usableFromInline func endsTurn() -> Bool {
    guard start != nil, .now - began > Self.turnDuration else { return false }
    turnEnds = true
    return true
  }

  /// The next piece of work; if there is none, the lane is free when this returns.
  private func next() -> (() -> Void)? {
    let action: (() -> Void)? = state.withLock { state in
      if let action = state.work.popFirst() {
        if state.work.isEmpty { signals.bitwiseAnd(~Signals.hasWork.rawValue, ordering: .relaxed) }
        return action
      }
      isRunning = false
      runner.store(0, ordering: .relaxed)
      state.isBusy = false
      return nil
    }
    if action == nil { letGo(place) }
    return action
  }

  /// Runs `body` with the lane as the domain of this thread. When this returns, another thread may already be running
  /// the lane.
  func inside(_ body: () -> Void) {
    let thread = currentThread()
    runner.store(thread, ordering: .relaxed)
    let outer = CurrentDomain.enter(self)
    if LiveMap.isOn { knownMap?.turnBegins() }
    body()
    CurrentDomain.leave(outer)
    _ = runner.compareExchange(expected: thread, desired: 0, ordering: .relaxed)
  }
}
