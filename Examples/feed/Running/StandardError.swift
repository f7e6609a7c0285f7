import FeedStream
import Foundation
import Logging
import Synchronization

/// Standard error. It never blocks for long: if it isn't read for half a second, messages are dropped and counted until
/// there is room again, so that the program can continue or exit. The number of dropped messages is then reported.
final class StandardError: Sendable {
  static let shared = StandardError()

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
      guard Output.hasRoom(STDERR_FILENO, within: dropped > 0 ? 0 : Output.patience) else {
        dropped += 1
        return
      }
      let missing = dropped
      dropped = 0
      if missing > 0 { Output.put(Array(Self.note(missing, format).utf8), to: STDERR_FILENO) }
      if !Output.put(Array(text.utf8), to: STDERR_FILENO) { dropped = 1 }
    }
  }

  private static func note(_ missing: Int, _ format: LogFormat) -> String {
    let messages = missing == 1 ? "1 message was" : "\(missing) messages were"
    let text = "\(messages) dropped here, because standard error was not read."
    return format == .json ? LogLine(.warning, text).text : "(\(text))\n"
  }
}
