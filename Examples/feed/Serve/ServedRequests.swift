import FeedHTTPServer
import FeedStreamMetrics
import Logging
import PlainText
import Synchronization

/// The durations of requests, by method, route and status, for all loops together, and a log of the requests.
final class ServedRequests: Sendable {
  private let histograms = Mutex(
    LabeledHistograms(
      MetricNames.serverRequestDuration, help: "Duration of requests until the response begins.",
      attributes: [MetricNames.Attribute.method, MetricNames.Attribute.route, MetricNames.Attribute.status]))
  private let log: Logger

  /// - Parameter log: receives a line for each request, at the `debug` level.
  init(log: Logger) { self.log = log }

  /// Counts and logs the requests to `routes`. If requests are logged, each gets an id.
  func watch(_ routes: inout HTTPRoutes) {
    let isLogged = log.logLevel <= .debug
    if isLogged { routes.use(.requestIDs()) }
    routes.use(
      .log { [self] request in
        count(request)
        if isLogged { write(request) }
      })
  }

  private func count(_ request: CompletedRequest) {
    // A missing path has no route.
    let labels = [MetricNames.method(request.method.rawValue), request.route ?? "", String(request.status.code)]
    histograms.withLock { $0.add(request.duration, labels) }
  }

  private func write(_ request: CompletedRequest) {
    var metadata: Logger.Metadata = [
      MetricNames.Attribute.method: "\(request.method)", "url.path": "\(request.path.printable)",
      MetricNames.Attribute.status: "\(request.status.code)", "duration": "\(request.duration)",
      "client.address": "\(request.peer)",
    ]
    if let route = request.route { metadata[MetricNames.Attribute.route] = "\(route)" }
    if let id = request.id { metadata["request.id"] = "\(id)" }
    log.debug("served", metadata: metadata)
  }

  /// The durations in the text format of Prometheus.
  var metrics: String { histograms.withLock { $0.text } }
}
