extension EventLoop {
  /// Runs blocking or heavy work on libuv's thread pool and hands its result back on the loop.
  ///
  /// The pool is the process's, of four threads unless the environment variable `UV_THREADPOOL_SIZE` says otherwise
  /// when it is first used; work that finds all of them busy waits its turn. When the system has no threads to give,
  /// the work waits for some, at most half a second; then it runs on the loop, one piece a turn, which holds everything
  /// else up but ends.
  ///
  /// The loop runs until the work has ended, even when it was cancelled. Dropping the result does not cancel.
  ///
  /// - Parameters:
  ///   - work: runs on a thread of the pool.
  ///   - completion: runs on the loop afterwards, unless cancelled before.
  /// - Returns: prevents `completion`, and `work` too if it has not begun.
  @discardableResult @inlinable public func offload<T: Sendable>(
    _ work: @escaping @Sendable () -> T, completion: @escaping (T) -> Void
  ) -> any Cancellable {
    let offload = OffloadOf(on: self, work, completion)
    start(offload)
    return offload
  }

  /// Hands work to the pool, or keeps it until there is one.
  @usableFromInline func start(_ offload: Offload) {
    checkOwner("offload")
    guard !isClosed else { return offload.abandon() }
    guard waitingForThreads.isEmpty, ThreadPool.isAvailable else {
      waitingForThreads.append(offload)
      if waitingForThreads.count == 1 { waitForThreads(until: now.advanced(by: .milliseconds(500))) }
      return
    }
    offload.start()
  }

  /// Starts what waits for threads as soon as there are some, and does without when there are none for too long: else a
  /// save would never end, and neither would a program that is told to end and completes its saves first.
  private func waitForThreads(until deadline: StreamInstant) {
    let pause = StreamInstant.Stride.milliseconds(hasDoneWithoutThreads ? 0 : 50)
    _ = addTimer(at: now.advanced(by: pause)) { [unowned self] in
      if ThreadPool.isAvailable {
        hasDoneWithoutThreads = false
        let waiting = waitingForThreads
        waitingForThreads = []
        for offload in waiting { offload.start() }
      } else if hasDoneWithoutThreads || now >= deadline {
        hasDoneWithoutThreads = true
        waitingForThreads[0].runOnLoop()
        // Only now: what its completion asks for lines up behind it.
        waitingForThreads.removeFirst()
        if !waitingForThreads.isEmpty { waitForThreads(until: deadline) }
      } else {
        waitForThreads(until: deadline)
      }
    }
  }
}
