import Synchronization

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// Knows which thread moves time.
final class Isolation: Sendable {
  // A thread's identity is a number or a pointer to nothing we touch: compared, never followed.
  private struct Thread: @unchecked Sendable { let id: pthread_t }
  private let runner = Mutex<Thread?>(nil)

  /// Whether this thread is the one that moves time.
  var isCurrent: Bool { runner.withLock { $0.map { pthread_equal($0.id, pthread_self()) != 0 } ?? false } }

  func enter(_ site: CallSite) {
    runner.withLock {
      precondition(
        $0 == nil,
        "\(site): advance or run was called while time is moving; schedule what should happen later instead")
      $0 = Thread(id: pthread_self())
    }
  }

  func leave() { runner.withLock { $0 = nil } }
}
