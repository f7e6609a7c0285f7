public import FeedHTTP

/// The hooks that follow one poll of a ``FleetWorker`` from its lease to its completion, for tracing.
///
///     options.trace = { lease in
///       let span = begin(lease)
///       return PollTrace(parent: span.parent) { client in
///         client.adjusting { $0.headers.append(.init(name: "traceparent", value: span.parent)) }
///       } end: { report in
///         span.end(report)
///       }
///     }
///
/// The update in the ``UpdateLog`` carries ``parent``, so a gateway continues the trace (``FeedUpdate/trace``).
public struct PollTrace {
  /// The identity of the poll, such as a W3C `traceparent`; `nil` if there is none. If it is longer than 256 bytes, it
  /// is left out.
  public var parent: String?
  /// Takes the worker's client, and returns the client for the poll's requests.
  public var client: (any HTTPClient) -> any HTTPClient
  /// Called once, when the poll has ended, with `nil` if its lease was lost or the worker was cancelled.
  public var end: (FleetWorker.Report?) -> Void

  public init(
    parent: String? = nil, client: @escaping (any HTTPClient) -> any HTTPClient = { $0 },
    end: @escaping (FleetWorker.Report?) -> Void = { _ in }
  ) {
    self.parent = parent.flatMap { $0.utf8.count <= Self.longestParent ? $0 : nil }
    self.client = client
    self.end = end
  }

  private static let longestParent = 256
}
