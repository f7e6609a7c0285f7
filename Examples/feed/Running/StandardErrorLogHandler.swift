import Foundation
import Logging

/// Logs to standard error like `StreamLogHandler`, or as lines of JSON, but doesn't block if standard error isn't read.
struct StandardErrorLogHandler: LogHandler {
  var metadata: Logger.Metadata = [:]
  var logLevel = Logger.Level.info
  let label: String

  init(label: String) { self.label = label }

  subscript(metadataKey key: String) -> Logger.Metadata.Value? {
    get { metadata[key] }
    set { metadata[key] = newValue }
  }

  func log(event: LogEvent) {
    let values = metadata.merging(event.metadata ?? [:]) { $1 }
    guard StandardError.shared.format == .text else {
      return StandardError.shared.report(event.level, "\(event.message)", source: event.source, metadata: values)
    }
    let details = values.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value) " }.joined()
    let now = Date.now.formatted(.iso8601)
    StandardError.shared.write("\(now) \(event.level) \(label): \(details)[\(event.source)] \(event.message)\n")
  }
}
