import CLibrary
import Synchronization

/// A mutex that is locked and unlocked by hand: for code in which passing the critical section as a closure would hinder
/// the optimizer.
///
/// In debug builds, it is the system's: on Linux, the thread sanitizer recognizes that one, but not the standard
/// library's, and would report false races. In release builds, it is the standard library's, which allocates no memory:
/// a chain whose publishers may deliver on any thread has a mutex for almost every operator.
// @unchecked: several threads may use the system's mutex.
@usableFromInline struct ManualMutex: ~Copyable, @unchecked Sendable {
  #if DEBUG
    // Allocated, because the system requires that a mutex never be moved.
    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)

    @usableFromInline init() {
      let code = pthread_mutex_init(mutex, nil)
      precondition(code == 0, "ManualMutex: the system has no mutexes left: \(String(cString: strerror(code)))")
    }

    deinit {
      pthread_mutex_destroy(mutex)
      mutex.deallocate()
    }

    @usableFromInline func lock() { pthread_mutex_lock(mutex) }
    @usableFromInline func unlock() { pthread_mutex_unlock(mutex) }
  #else
    private let mutex = Mutex(())

    @usableFromInline init() {}

    @usableFromInline func lock() { mutex._unsafeLock() }
    @usableFromInline func unlock() { mutex._unsafeUnlock() }
  #endif

  func withLock<R>(_ body: () throws -> R) rethrows -> R {
    lock()
    defer { unlock() }
    return try body()
  }
}

/// State that several threads share and that one thread at a time uses.
///
// @unchecked: the state is used only with the mutex held, and the initializer's caller gives away the initial state.
package final class Locked<State: ~Copyable>: @unchecked Sendable {
  @exclusivity(unchecked) private var state: State
  private let mutex = ManualMutex()

  package init(_ state: consuming sending State) { self.state = state }

  /// Runs `body` with the lock held; `body` must not use this lock.
  package func withLock<R>(_ body: (inout State) throws -> R) rethrows -> R {
    mutex.lock()
    defer { mutex.unlock() }
    return try body(&state)
  }
}
