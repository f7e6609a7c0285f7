import FeedStream
import Foundation
import Logging
import Synchronization

/// Standard error. It never blocks for long: if it isn't read for half a second, messages are dropped and counted until
/// there is room again, so that the program can continue or exit. The number of dropped messages is then reported.
final class StandardError: Sendable {
  static let shared = StandardError()

  private let patience: Int32 = 500
  private let dropped = Mutex(0)
  private let isJSON = Atomic(false)

  /// The format of messages: text by default.
  var format: LogFormat {
    get { isJSON.load(ordering: .relaxed) ? .json : .text }
    set { isJSON.store(newValue == .json, ordering: .relaxed) }
  }

  /// Writes a message in the chosen format.
  func report(
    _ level: Logger.Level, _ message: String, source: String? = nil, metadata: Logger.Metadata = [:]
  ) {
    let message = message.hasSuffix("\n") ? String(message.dropLast()) : message
    guard format == .json else { return send(message + "\n") }
    send(LogLine(level, message, source: source, metadata: metadata).text)
  }

  /// Writes the map of the streams as a message in JSON.
  func report(_ map: StreamMap, _ message: String) {
    send(LogLine(.info, message, source: "FeedStream", map: map).text)
  }

  /// Writes text; in JSON, as a message at the `notice` level.
  func write(_ text: String) {
    if format == .json { report(.notice, text) } else { send(text) }
  }

  private func send(_ text: String) {
    dropped.withLock { dropped in
      // Don't wait again for a reader that has not read for that long.
      guard hasRoom(within: dropped > 0 ? 0 : patience) else {
        dropped += 1
        return
      }
      let missing = dropped
      dropped = 0
      if missing > 0 { put(Self.note(missing, format)) }
      if !put(text) { dropped = 1 }
    }
  }

  private static func note(_ missing: Int, _ format: LogFormat) -> String {
    let messages = missing == 1 ? "1 message was" : "\(missing) messages were"
    let text = "\(messages) dropped here, because standard error was not read."
    return format == .json ? LogLine(.warning, text).text : "(\(text))\n"
  }

  /// - Returns: true if all of it was written.
  @discardableResult private func put(_ text: String) -> Bool {
    var rest = ArraySlice(text.utf8)
    while !rest.isEmpty {
      guard hasRoom(within: patience) else { return false }
      // Write no more than any writable pipe accepts, so that the write doesn't block.
      let count = rest.prefix(Int(PIPE_BUF)).withUnsafeBytes {
        Foundation.write(STDERR_FILENO, $0.baseAddress, $0.count)
      }
      // A failed write to standard error can't be reported.
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
