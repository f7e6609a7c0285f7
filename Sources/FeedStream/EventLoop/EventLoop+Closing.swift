internal import CLibUV

extension EventLoop {
  /// Closes the loop and everything on it; scheduled work is dropped without running, except jobs of tasks and actors.
  ///
  /// Queued jobs, and those that they enqueue, run first, so that no task waits forever. The loop waits for offloaded
  /// work and lookups that have started, and drops their results. Handles are closed, and all of libuv's descriptors
  /// and memory are freed. Afterwards, ``execute(_:file:line:)`` and ``schedule(options:_:)`` drop their work. Jobs
  /// that arrive later still run, one at a time, on the threads that enqueue them. Releasing the loop closes it, too.
  /// Idempotent.
  ///
  /// A program that runs keeps its loop (``Subprocess``): run the loop until the program has ended, or close it, which
  /// kills the program. Otherwise the loop is never released, and the ended program stays in the list of processes.
  ///
  /// The loop's streams deliver nothing more. Streams that cross from this loop to a queue or to another loop cancel
  /// their publishers, and tasks that iterate `values` receive `nil`. Any thread may then cancel and release the
  /// remaining objects.
  ///
  /// - Precondition: the calling thread owns the loop, the loop isn't running, and it isn't ``EventLoop/main``.
  public func close() {
    guard !isClosed else { return }
    precondition(
      entrance.host == nil, "EventLoop.close: the main queue runs this loop until the program ends; use another loop")
    checkOwner()
    precondition(!isCurrent, "EventLoop.close: the loop is running; stop() it and close it after run() has returned")
    finishJobs()
    entrance.mailbox.close()
    finishJobs()
    entrance.firstRun.hasBegun.store(true, ordering: .relaxed)
    tearDown()
    runLateJobs()
  }

  /// Runs jobs that arrived at the closed loop, until there are none. Only the holder of `lateJobs` may call this.
  func runLateJobs() {
    // Code that enqueues a job does not retain the executor, and the job may release the actor that holds the last
    // reference to the loop. Retain the loop explicitly: the optimizer must not remove this retain.
    let held = Unmanaged.passRetained(self)
    defer { held.release() }
    let owner = entrance.owner.exchange(CurrentDomain.threadNumber, ordering: .relaxed)
    runner.store(currentThread(), ordering: .relaxed)
    let leave = { [self] in
      runner.store(0, ordering: .relaxed)
      // This thread only runs jobs; it doesn't own the other objects that lived on the loop.
      entrance.owner.store(owner, ordering: .relaxed)
    }
    while let job = lateJobs.next(orLeave: leave) { run(job) }
  }

  /// Runs the queued jobs, as the loop would.
  private func finishJobs() {
    runner.store(currentThread(), ordering: .relaxed)
    defer { runner.store(0, ordering: .releasing) }
    var count: Int
    repeat {
      entrance.mailbox.collect(into: &received)
      received.work.drain { _ in }
      count = received.jobs.count + ready.jobs.count
      received.jobs.drain(run)
      runReadyJobs()
    } while count > 0
  }

  /// Frees all of libuv's resources. The loop must no longer be in use.
  func tearDown() {
    isClosed = true
    ThreadLoops.remove(self)
    forgetTurns()
    EventLoop.open.subtract(1, ordering: .relaxed)
    entrance.mailbox.close()
    gate.close()
    // Drop the timers first: a closer may cancel one, and a loop that is being released can't account for that. Release
    // their actions only after everything is closed, because that may call back into the loop.
    let unrun = (timers.removeAll(), waitingForThreads)
    let closers = self.closers
    self.closers = [:]
    for closer in closers.values { closer() }
    for offload in waitingForThreads { offload.abandon() }
    var unread = Mailbox.Mail()
    entrance.mailbox.collect(into: &unread)
    var unready = Ready()
    swap(&ready, &unready)
    precondition(
      unread.jobs.isEmpty && unready.jobs.isEmpty,
      "EventLoop: released while tasks wait to run on it; close() it first, or keep it until they have run")
    waitingForThreads = []

    uv_walk(
      uv,
      { handle, _ in
        guard let handle, uv_is_closing(handle) == 0 else { return }
        if let data = handle.pointee.data {
          Unmanaged<LoopHandle>.fromOpaque(data).takeUnretainedValue().close()
        } else {
          LoopHandle.closeAndFree(handle)
        }
      }, nil)
    while uv_run(uv, UV_RUN_DEFAULT) != 0 {}
    let code = uv_loop_close(uv)
    precondition(
      code == 0, "EventLoop.close: a libuv handle is still open; first close handles made outside EventLoop")
    uv.deallocate()
    closeWakeUp()
    withExtendedLifetime(unrun) {}
    unread.work.drain { _ in }
    unready.work.drain { _ in }
    // The streams have cancelled their publishers here, where the publishers live. The rest may be released anywhere.
    entrance.close()
  }
}
