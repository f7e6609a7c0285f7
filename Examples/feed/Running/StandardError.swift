import Foundation
import Synchronization

/// Standard error. It never blocks for long: when nobody reads for half a second, messages are dropped and counted
/// until there is room, so that the program can continue or end. Then the number of dropped messages is reported.
final class StandardError: Sendable {
  static let shared = StandardError()

  private let patience: Int32 = 500
  private let dropped = Mutex(0)

  func write(_ text: String) {
    dropped.withLock { dropped in
      // After the reader was silent for that long, the next message doesn't wait again.
      guard hasRoom(within: dropped > 0 ? 0 : patience) else {
        dropped += 1
        return
      }
      let missing = dropped
      dropped = 0
      if missing > 0 { put("(\(missing) messages were dropped here, because standard error was not read.)\n") }
      if !put(text) { dropped = 1 }
    }
  }

  /// - Returns: true when all of it was written.
  @discardableResult private func put(_ text: String) -> Bool {
    var rest = ArraySlice(text.utf8)
    while !rest.isEmpty {
      guard hasRoom(within: patience) else { return false }
      // Never more than a pipe with any room accepts: then a write does not block.
      let count = rest.prefix(Int(PIPE_BUF)).withUnsafeBytes {
        Foundation.write(STDERR_FILENO, $0.baseAddress, $0.count)
      }
      // A failure to write to standard error cannot be reported.
      if count < 0 && errno != EINTR { return true }
      rest = rest.dropFirst(max(count, 0))
    }
    return true
  }

  private func hasRoom(within milliseconds: Int32) -> Bool {
    var descriptor = pollfd(fd: STDERR_FILENO, events: Int16(POLLOUT), revents: 0)
    return poll(&descriptor, 1, milliseconds) != 0
  }
}
