import FeedStream
import Logging

/// The reports of streams as log lines, for a log in JSON. If there is no handler, `FeedStream` writes the reports as
/// text.
enum StreamReports {
  /// Starts logging what would otherwise be written: warnings if they are turned on, failures that nothing handles,
  /// and, in debug builds, errors that were handled automatically.
  static func begin() {
    // Setting a handler would turn warnings on.
    if StreamDiagnostics.hasWarnings { StreamDiagnostics.onWarning(warn) }
    StreamDiagnostics.onUnhandledFailure { failure in
      var details: Logger.Metadata = ["stream": .string(failure.source)]
      if !failure.checkpoints.isEmpty { details["checkpoints"] = list(failure.checkpoints.map { "\($0)" }) }
      report(.error, "unhandled failure \(failure.error)", details)
    }
    #if DEBUG
      StreamDiagnostics.onCaughtError { report(.warning, "\($0.error)", ["stream": .string($0.source)]) }
    #endif
  }

  /// Logs the map of the streams.
  static func log(_ map: StreamMap) { StandardError.shared.report(map, "streams") }

  private static func warn(_ warning: StreamWarning) {
    var details: Logger.Metadata = [
      "kind": .string(warning.kind.rawValue), "place": .string(warning.place), "section": .string(warning.kind.section),
    ]
    if !warning.stack.isEmpty { details["stack"] = list(warning.stack) }
    report(.warning, warning.message, details)
  }

  private static func report(_ level: Logger.Level, _ message: String, _ details: Logger.Metadata) {
    StandardError.shared.report(level, message, source: "FeedStream", metadata: details)
  }

  private static func list(_ lines: [String]) -> Logger.MetadataValue { .array(lines.map { .string($0) }) }
}
