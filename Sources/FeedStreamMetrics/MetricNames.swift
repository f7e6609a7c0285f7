internal import FeedHTTP

/// The names of metrics. If OpenTelemetry's semantic conventions define a name, that name is used. Durations are in
/// seconds.
///
/// `feed serve` uses the same names for Prometheus (``prometheus(_:unit:)``).
public enum MetricNames {
  /// The duration of a server's requests, from the request's head to the response's.
  public static let serverRequestDuration = "http.server.request.duration"
  /// The duration of a client's requests.
  public static let clientRequestDuration = "http.client.request.duration"
  /// The number of a server's open connections.
  public static let serverConnections = "feedstream.http.server.connections"
  /// The number of response bytes waiting to be written.
  public static let serverWaitingBytes = "feedstream.http.server.waiting_bytes"
  /// The duration of a loop's turns, excluding the time that the loop waits.
  public static let turnDuration = "feedstream.eventloop.turn.duration"
  /// The delay of a loop's timers.
  public static let loopDelay = "feedstream.eventloop.delay"
  /// The number of a loop's active handles.
  public static let loopHandles = "feedstream.eventloop.active_handles"
  /// The number of work items that a loop has offloaded to the thread pool and that have not completed.
  public static let loopOffloads = "feedstream.eventloop.offloads"

  /// The number of decisions that an HTTP cache has made.
  public static let cacheEvents = "feedstream.http.cache.events"
  /// The number of feed polls.
  public static let polls = "feedstream.polls"
  /// The time between a feed's due time and its poll.
  public static let pollLateness = "feedstream.poll.lateness"
  /// The duration of database commands, up to their replies.
  public static let databaseOperationDuration = "db.client.operation.duration"

  /// The attributes of metrics.
  public enum Attribute {
    public static let method = "http.request.method"
    public static let status = "http.response.status_code"
    public static let route = "http.route"
    public static let scheme = "url.scheme"
    public static let serverAddress = "server.address"
    public static let serverPort = "server.port"
    public static let errorType = "error.type"
    public static let loopName = "feedstream.eventloop.name"
    public static let cacheEvent = "feedstream.http.cache.event"
    public static let pollOutcome = "feedstream.poll.outcome"
    public static let databaseSystem = "db.system.name"
    public static let databaseOperation = "db.operation.name"
  }

  /// The upper bounds of histogram buckets that the conventions recommend for durations of requests, in seconds.
  public static let durationBounds = [0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10]

  /// A name in Prometheus's form: with underscores, and with the unit at the end.
  public static func prometheus(_ name: String, unit: String? = nil) -> String {
    let text = String(name.map { $0 == "." ? "_" : $0 })
    return unit.map { "\(text)_\($0)" } ?? text
  }

  /// A method as a value of ``Attribute/method``: `_OTHER` for unusual methods, because clients could send any number
  /// of different ones.
  public static func method(_ name: String) -> String {
    HTTPMethod(rawValue: name).telemetryName
  }
}
