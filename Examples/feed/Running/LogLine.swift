import FeedStream
import Foundation
import Logging

/// A message as one line of JSON.
struct LogLine: Encodable {
  /// The time in the format of RFC 3339, in UTC.
  let time: String
  let level: String
  let message: String
  /// The name of the logger's module; `nil` for messages to the user.
  let source: String?
  let metadata: [String: Value]?
  /// The streams of the program, for the message that a signal triggers.
  let map: StreamMap?

  init(
    _ level: Logger.Level, _ message: String, source: String? = nil, metadata: Logger.Metadata = [:],
    map: StreamMap? = nil, at now: Date = .now
  ) {
    time = now.formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true))
    self.level = level.rawValue
    self.message = message
    self.source = source
    self.metadata = metadata.isEmpty ? nil : metadata.mapValues(Value.init)
    self.map = map
  }

  /// The line, with its line break.
  var text: String { FeedJSON.harmless(encoded(self, keys: .useDefaultKeys)) + "\n" }

  /// A metadata value: text, or JSON with the same structure.
  struct Value: Encodable {
    let value: Logger.MetadataValue

    func encode(to encoder: any Encoder) throws {
      var container = encoder.singleValueContainer()
      switch value {
      case .string(let text): try container.encode(text)
      case .stringConvertible(let other): try container.encode("\(other)")
      case .array(let values): try container.encode(values.map(Value.init))
      case .dictionary(let values): try container.encode(values.mapValues(Value.init))
      }
    }
  }
}
