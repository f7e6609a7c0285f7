import Foundation
import GRDB

/// A connection of GRDB's that is closed when it is released, also by a process that can start no thread.
///
/// libdispatch hands the remains of a queue to a thread of its own, and waits for one as long as it takes, which may be
/// forever. Where there is none, the connection is closed and its queue left behind.
final class DatabaseConnection: Sendable {
  let queue: DatabaseQueue

  init(path: String, _ configuration: Configuration) throws {
    queue = try DatabaseQueue(path: path, configuration: configuration)
  }

  deinit {
    guard !Self.canStartThread else { return }
    try? queue.close()
    // Never released, on purpose.
    _ = Unmanaged.passRetained(queue)
  }

  private static var canStartThread: Bool {
    #if os(Linux)
      var thread = pthread_t()
      guard pthread_create(&thread, nil, { _ in nil }, nil) == 0 else { return false }
      pthread_join(thread, nil)
    #endif
    return true
  }
}
