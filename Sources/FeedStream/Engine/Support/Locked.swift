import CLibrary
import Synchronization

/// The system's mutex, for code in which passing the critical section as a closure would hinder the optimizer.
// @unchecked: several threads may use the system's mutex.
@usableFromInline struct SystemMutex: ~Copyable, @unchecked Sendable {
  // Allocated, because the system requires that a mutex never be moved.
  private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)

  @usableFromInline init() {
    let code = pthread_mutex_init(mutex, nil)
    precondition(code == 0, "SystemMutex: the system has no mutexes left: \(String(cString: strerror(code)))")
  }

  deinit {
    pthread_mutex_destroy(mutex)
    mutex.deallocate()
  }

  @usableFromInline func lock() { pthread_mutex_lock(mutex) }
  @usableFromInline func unlock() { pthread_mutex_unlock(mutex) }

  func withLock<R>(_ body: () throws -> R) rethrows -> R {
    lock()
    defer { unlock() }
    return try body()
  }
}

#if DEBUG
  /// The system's mutex in debug builds: the thread sanitizer recognizes it.
  typealias QuietMutex = SystemMutex
#else
  /// A mutex for which threads rarely wait. It allocates no memory; under contention, it is slower than the system's.
  struct QuietMutex: ~Copyable, Sendable {
    private let mutex = Mutex(())

    func withLock<R>(_ body: () throws -> R) rethrows -> R {
      mutex._unsafeLock()
      defer { mutex._unsafeUnlock() }
      return try body()
    }
  }
#endif

/// State that several threads share and that one thread at a time uses.
///
/// This isn't the standard library's `Mutex`, because on Linux the thread sanitizer doesn't see that mutex's operations
/// and reports false races. The sanitizer recognizes the system's mutex.
// @unchecked: the state is used only with the mutex held, and the initializer's caller gives away the initial state.
package final class Locked<State: ~Copyable>: @unchecked Sendable {
  @exclusivity(unchecked) private var state: State
  private let mutex = SystemMutex()

  package init(_ state: consuming sending State) { self.state = state }

  /// Runs `body` with the lock held; `body` must not use this lock.
  package func withLock<R>(_ body: (inout State) throws -> R) rethrows -> R {
    mutex.lock()
    defer { mutex.unlock() }
    return try body(&state)
  }
}
