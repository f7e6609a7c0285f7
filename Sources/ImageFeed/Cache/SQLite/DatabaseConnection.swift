import Foundation
import GRDB

/// A GRDB connection that is closed when it is released, even in a process that can't start a thread.
///
/// libdispatch releases a queue on a thread of its own and waits for that thread, possibly forever. When no thread is
/// available, the connection is closed and its queue is leaked.
final class DatabaseConnection: Sendable {
  let queue: DatabaseQueue
  /// Released after the queue has closed the file.
  private let file: OpenFile

  /// - Parameter address: the path of the file, or its `file:` URI.
  init(_ file: OpenFile, at address: String? = nil, _ configuration: Configuration) throws {
    self.file = file
    queue = try DatabaseQueue(path: address ?? file.path, configuration: configuration)
  }

  deinit {
    do { try queue.close() } catch {
      // The file may still be open, so it counts as open from here on.
      _ = Unmanaged.passRetained(file)
    }
    guard !Self.canStartThread else { return }
    // The queue is leaked on purpose.
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
