internal import CLibUV

/// The system's mutex, for who must hold it across calls that a closure would not let the optimizer see through.
// @unchecked: the system's mutex is for several threads.
@usableFromInline final class SystemMutex: @unchecked Sendable {
  // Never moved, as the system demands.
  private let mutex = UnsafeMutablePointer<uv_mutex_t>.allocate(capacity: 1)

  @usableFromInline init() {
    let code = uv_mutex_init(mutex)
    precondition(code == 0, "SystemMutex: the system has no mutex left: \(String(cString: uv_strerror(code)))")
  }

  deinit {
    uv_mutex_destroy(mutex)
    mutex.deallocate()
  }

  @usableFromInline func lock() { uv_mutex_lock(mutex) }
  @usableFromInline func unlock() { uv_mutex_unlock(mutex) }

  func withLock<R>(_ body: () throws -> R) rethrows -> R {
    lock()
    defer { unlock() }
    return try body()
  }
}

/// A state that several threads share, touched by one at a time.
///
/// Not the standard library's `Mutex`: the thread sanitizer does not see that one's operations on Linux and reports
/// races where there are none, whereas it knows the system's mutex.
// @unchecked: the state is reached only with the mutex held, and the initializer's caller gives it away.
package final class Locked<State: ~Copyable>: @unchecked Sendable {
  @exclusivity(unchecked) private var state: State
  // Never moved, as the system demands.
  private let mutex = UnsafeMutablePointer<uv_mutex_t>.allocate(capacity: 1)

  package init(_ state: consuming sending State) {
    self.state = state
    let code = uv_mutex_init(mutex)
    precondition(code == 0, "Locked: the system has no mutex left: \(String(cString: uv_strerror(code)))")
  }

  deinit {
    uv_mutex_destroy(mutex)
    mutex.deallocate()
  }

  /// Runs `body` with the lock held; it must not come back here.
  package func withLock<R>(_ body: (inout State) throws -> R) rethrows -> R {
    uv_mutex_lock(mutex)
    defer { uv_mutex_unlock(mutex) }
    return try body(&state)
  }
}
