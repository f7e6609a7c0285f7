internal import CLibUV

// Work that arrives from other threads.
extension EventLoop {
  @inline(never) static func refuse(_ function: StaticString) -> Never {
    if let lane = SerialLane.current, lane.isOnQueue {
      halt(
        """
        EventLoop: a timer, an operator or a client of this loop was used in a part of a stream that runs on "\(lane.name)". Write \
        .receive(on: loop) directly above the operator that uses the loop: delay, debounce or throttle, or flatMap or \
        flatMapLatest with a client of the loop. If a part above .subscribe(on:) uses the loop, remove .subscribe(on:), or \
        pass it the loop (EventLoop.\(function) was called from a thread that does not own the loop)
        """)
    }
    // The caller may have released a cancellable without knowing that a timer was above it.
    let isCancelling = "\(function)".hasPrefix("cancel")
    halt(
      """
      EventLoop.\(function) was called from a thread that does not own the loop; \
      \(adviceToRefused)\(isCancelling ? ". \(ThreadTrap.adviceToCancel)" : "")
      """)
  }

  private static var adviceToRefused: String {
    guard !SubjectConfinement.isInTask else {
      return """
        a task called it, or made a timer, an operator or a client of this loop. In a task or an asynchronous main, use \
        EventLoop.main on the main actor. On an EventLoopThread, write thread.run { loop in … }, or use an OnLoop or an actor on \
        the loop; await values from there. To only run code on the loop, use execute { }
        """
    }
    return """
      use execute { } to run code on it. If a timer, an operator or a client uses this loop, build its stream in \
      loop.execute { }, or in thread.run { loop in … } of an EventLoopThread; for Sendable values, you can instead write \
      .receive(on: loop) above delay, debounce or throttle
      """
  }

  /// Runs `action` on the loop; the actions of one thread run in the order in which it posts them. Safe to use from any
  /// thread.
  ///
  /// A loop that isn't running keeps the action until it runs. An action that has not arrived yet does not keep the
  /// loop running. A closed loop drops the action, and debug builds write a warning.
  ///
  /// - Parameters:
  ///   - action: runs on the loop.
  ///   - file: identifies the call in warnings, together with `line`.
  ///   - line: the line in the file.
  public func execute(
    _ action: @escaping @Sendable () -> Void, file: StaticString = #fileID, line: UInt = #line
  ) {
    if !post(action) { warnOfClosedLoop(file, line) }
  }

  /// Does the same as `execute(_:file:line:)`, but actions run in the order of the calls, even if different threads
  /// make the calls.
  func executeInOrder(_ action: @escaping @Sendable () -> Void, file: StaticString, line: UInt) {
    if !entrance.post(action) { warnOfClosedLoop(file, line) }
  }

  private func warnOfClosedLoop(_ file: StaticString, _ line: UInt) {
    guard Warnings.areOn else { return }
    Warnings.sentToClosedLoop("EventLoop.execute: work", at: "\(SourcePlace(file, line))")
  }

  package var instant: Int64? { now.nanoseconds }

  package func bring(_ action: @escaping @Sendable () -> Void) { _ = post(action) }
  package func bringInOrder(_ action: @escaping @Sendable () -> Void) { _ = entrance.post(action) }
  package func bringCancellation(_ cancel: @escaping @Sendable () -> Void) { entrance.bringCancellation(cancel) }

  /// - Returns: false if the loop is closed.
  private func post(_ action: @escaping @Sendable () -> Void) -> Bool {
    if isCurrent {
      append(action)
      return !isClosed
    }
    return entrance.post(action)
  }

  /// Adds a task's job. Safe to use from any thread.
  func post(_ job: UnownedJob) {
    if isCurrent, !isClosed { return append(job) }
    if entrance.mailbox.post({ $0.jobs.append(job) }, wake: { entrance.wake() }) { return }
    if lateJobs.add(job) { runLateJobs() }
  }

  /// Runs the work that other threads have posted.
  ///
  /// - Returns: true if there was any work.
  @discardableResult func collectMail() -> Bool {
    // `received` is empty here: only this function fills it, and it never calls itself.
    entrance.mailbox.collect(into: &received)
    if received.stopRequested {
      received.stopRequested = false
      isStopping = true
      uv_stop(uv)
    }
    guard !received.isEmpty else { return false }
    received.work.drain { $0.run() }
    received.jobs.drain(run)
    return true
  }

  /// Runs a job, with the loop as its executor.
  @inline(__always) func run(_ job: UnownedJob) { job.runSynchronously(on: asUnownedSerialExecutor()) }
}
