import FeedPolling
import FeedStreamMetrics
import FeedStreamTracing
import Foundation
import Logging

/// The traces of a worker's polls. Each poll gets its own trace, whose identity (W3C Trace Context) is in the worker's
/// log and in the update, and therefore in the log and the events of each gateway.
enum WorkTrace {
  static func follow(_ lease: WorkLease, _ log: Logger) -> PollTrace {
    let trace = TraceParent.random()
    log.debug("polling", metadata: metadata(of: trace, lease.address))
    var poll = PollTrace(parent: "\(trace)")
    poll.end = { report in
      let outcome = report.map { $0.verdict == .lost ? "lost" : $0.outcome.rawValue } ?? "dropped"
      var metadata = metadata(of: trace, lease.address)
      metadata[MetricNames.Attribute.pollOutcome] = "\(outcome)"
      log.debug("polled", metadata: metadata)
    }
    return poll
  }

  /// Logs an update that a gateway announces, if its poll was traced.
  static func announced(_ update: FeedUpdate, _ log: Logger) {
    guard let trace = update.trace.flatMap({ TraceParent($0) }) else { return }
    log.debug("announced", metadata: metadata(of: trace, update.address))
  }

  private static func metadata(of trace: TraceParent, _ address: URL) -> Logger.Metadata {
    ["trace_id": "\(trace.traceID)", "url.full": "\(address.shown)"]
  }
}
