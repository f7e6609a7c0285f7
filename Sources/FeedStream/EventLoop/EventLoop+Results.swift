internal import CLibUV

extension EventLoop {
  /// Runs `work` on the loop and waits for its result; runs `work` immediately if the calling thread is running the
  /// loop.
  ///
  /// - Returns: the result of `work`; `nil` if the loop is closed.
  @discardableResult package func result<T: Sendable>(of work: @escaping @Sendable () -> T) -> T? {
    if isCurrent { return work() }
    let result = Locked<T?>(nil)
    let gate = Gate()
    bring {
      let value = work()
      result.withLock { $0 = value }
      gate.open()
    } dropped: {
      gate.open()
    }
    gate.wait()
    return result.withLock { $0 }
  }
}

/// Blocks one thread until another opens the gate, which lets one call to `wait()` through.
// @unchecked: several threads may use the system's semaphore.
final class Gate: @unchecked Sendable {
  // Allocated, because the system requires that a semaphore never be moved.
  private let semaphore = UnsafeMutablePointer<uv_sem_t>.allocate(capacity: 1)

  init() {
    let code = uv_sem_init(semaphore, 0)
    precondition(code == 0, "EventLoop: the system has no semaphores left: \(String(cString: uv_strerror(code)))")
  }

  deinit {
    uv_sem_destroy(semaphore)
    semaphore.deallocate()
  }

  func open() { uv_sem_post(semaphore) }
  func wait() { uv_sem_wait(semaphore) }
}
