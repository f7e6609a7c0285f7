import FeedStream
import Synchronization

/// The thread that is advancing a virtual time.
final class Mover: Sendable {
  /// The thread's identifier; 0 if no thread is advancing the time.
  let thread = Atomic<UInt>(0)
}

/// The movers of all schedulers, for the check that a stream in virtual time isn't used by a second thread.
enum Movers {
  // Initialized by the first scheduler.
  private static let entries = {
    CurrentDomain.isAdvancing = { Movers.isAdvancing($0) }
    return Locked<[ObjectIdentifier: Mover]>([:])
  }()

  static func add(_ mover: Mover, of time: ObjectIdentifier) { entries.withLock { $0[time] = mover } }

  static func remove(of time: ObjectIdentifier) { entries.withLock { $0[time] = nil } }

  /// True if a thread other than the calling one is advancing the time.
  private static func isAdvancing(_ time: ObjectIdentifier) -> Bool {
    let thread = entries.withLock { $0[time] }?.thread.load(ordering: .acquiring) ?? 0
    return thread != 0 && thread != currentThread()
  }
}
