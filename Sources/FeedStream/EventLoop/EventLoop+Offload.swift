extension EventLoop {
  /// Runs blocking or heavy work on libuv's thread pool and hands its result back on the loop.
  ///
  /// The pool is the process's, of four threads unless the environment variable `UV_THREADPOOL_SIZE` says otherwise when
  /// it is first used; work that finds all of them busy waits its turn. When the system has no threads to give, the work
  /// waits until it has.
  ///
  /// The loop runs until the work has ended, even when it was cancelled. Dropping the result does not cancel.
  ///
  /// - Parameters:
  ///   - work: runs on a thread of the pool.
  ///   - completion: runs on the loop afterwards, unless cancelled before.
  /// - Returns: prevents `completion`, and `work` too if it has not begun.
  @discardableResult
  @inlinable
  public func offload<T: Sendable>(
    _ work: @escaping @Sendable () -> T, completion: @escaping (T) -> Void
  ) -> any Cancellable {
    let offload = OffloadOf(on: self, work, completion)
    start(offload)
    return offload
  }

  /// Hands work to the pool, or keeps it until there is one.
  @usableFromInline
  func start(_ offload: Offload) {
    checkOwner("offload")
    guard !isClosed else { return offload.abandon() }
    guard waitingForThreads.isEmpty, ThreadPool.isAvailable else {
      if waitingForThreads.isEmpty { retryOffloading() }
      return waitingForThreads.append(offload)
    }
    offload.start()
  }

  /// Starts what waits for threads, as soon as there are some.
  private func retryOffloading() {
    _ = addTimer(at: now.advanced(by: .milliseconds(50))) { [unowned self] in
      guard ThreadPool.isAvailable else { return retryOffloading() }
      let waiting = waitingForThreads
      waitingForThreads = []
      for offload in waiting { offload.start() }
    }
  }
}
