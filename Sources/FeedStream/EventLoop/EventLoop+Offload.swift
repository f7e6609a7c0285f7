extension EventLoop {
  /// Runs blocking or heavy work on libuv's thread pool and delivers its result on the loop.
  ///
  /// The pool belongs to the process. It has four threads, or the number in the environment variable
  /// `UV_THREADPOOL_SIZE` when it is first used; work waits while all of them are busy. If the system has no threads
  /// left, the work waits for one, for at most half a second. After that, it runs on the loop, one piece per turn: this
  /// delays everything else, but the work completes.
  ///
  /// The loop runs until the work has ended, even when it is cancelled. Dropping the result does not cancel the work.
  ///
  /// - Parameters:
  ///   - work: runs on a thread of the pool.
  ///   - completion: runs on the loop afterwards, unless cancelled before.
  /// - Returns: a cancellable that prevents `completion`, and also `work` if it has not begun.
  @discardableResult @inlinable public func offload<T: Sendable>(
    _ work: @escaping @Sendable () -> T, completion: @escaping (T) -> Void
  ) -> any Cancellable {
    let offload = OffloadOf(on: self, work, completion)
    start(offload)
    return offload
  }

  /// The number of pieces of work that the loop has offloaded and that have not ended: those that run on the pool's threads,
  /// and those that wait for a thread.
  public var offloadedCount: Int {
    checkOwner("offloadedCount")
    return offloadsInPool + waitingForThreads.count
  }

  /// Passes work to the pool, or holds it until there is a pool.
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

  /// Starts the waiting work as soon as there are threads, or without them if there are none for too long. Otherwise, a
  /// save would never complete, nor would a program that completes its saves before it exits.
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
        // Only now: work that its completion requests comes after it.
        waitingForThreads.removeFirst()
        if !waitingForThreads.isEmpty { waitForThreads(until: deadline) }
      } else {
        waitForThreads(until: deadline)
      }
    }
  }
}
