extension EventLoop {
  /// Runs blocking or heavy work on libuv's thread pool and delivers its result on the loop.
  ///
  /// All loops of the process share the pool. It has four threads, or the number that the `UV_THREADPOOL_SIZE`
  /// environment variable specifies when the pool is first used. Work waits while all threads are busy. If the system
  /// has no threads left, the work waits for one, for at most half a second. After that, it runs on the loop, one piece
  /// per turn: this delays everything else, but the work completes.
  ///
  /// The loop keeps running until the work has ended, even if you cancel it. Dropping the returned cancellable does
  /// not cancel the work.
  ///
  /// - Parameters:
  ///   - work: runs on a thread of the pool.
  ///   - completion: runs on the loop afterwards, unless it is cancelled first.
  /// - Returns: a cancellable that prevents `completion`, and also `work` if it has not begun.
  @discardableResult @inlinable public func offload<T>(
    _ work: @escaping @Sendable () -> T, completion: @escaping (T) -> Void
  ) -> any Cancellable {
    let offload = OffloadOf(on: self, work, completion)
    start(offload)
    return offload
  }

  /// The number of pieces of offloaded work that have not ended: those that run on the pool's threads, and those that
  /// wait for a thread.
  public var offloadedCount: Int {
    checkOwner("offloadedCount")
    return offloadsInPool + waitingForThreads.count
  }

  /// Passes work to the pool, or holds it until threads are available.
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

  /// Starts the waiting work as soon as there are threads, or on the loop if there are none by `deadline`. Without
  /// this, a save would never complete, and a program that waits for its saves would never exit.
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
        // Remove the work only now, so that any work that its completion offloads comes after it.
        waitingForThreads.removeFirst()
        if !waitingForThreads.isEmpty { waitForThreads(until: deadline) }
      } else {
        waitForThreads(until: deadline)
      }
    }
  }
}
