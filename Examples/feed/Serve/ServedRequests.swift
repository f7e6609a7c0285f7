import FeedHTTPServer
import FeedStreamMetrics
import Logging
import PlainText
import Synchronization

/// The durations of requests, by method, route and status, for all loops together, and a log of the requests.
final class ServedRequests: Sendable {
  private struct Key: Hashable, Comparable {
    let method: String
    let route: String
    let status: Int

    static func < (a: Self, b: Self) -> Bool { (a.method, a.route, a.status) < (b.method, b.route, b.status) }
  }

  private let histograms = Mutex<[Key: DurationHistogram]>([:])
  private let log: Logger

  /// - Parameter log: receives a line for each request, at the `debug` level.
  init(log: Logger) { self.log = log }

  /// Counts and logs the requests of `routes`, each with its id if they are logged.
  func watch(_ routes: inout HTTPServer.Routes) {
    let isLogged = log.logLevel <= .debug
    if isLogged { routes.use(.requestIDs()) }
    routes.use(
      .log { [self] request in
        count(request)
        if isLogged { write(request) }
      })
  }

  private func count(_ request: HTTPServer.AnsweredRequest) {
    let key = Key(
      method: MetricNames.method(request.method.rawValue), route: request.route ?? "", status: request.status.code)
    histograms.withLock { $0[key, default: DurationHistogram()].add(request.duration) }
  }

  private func write(_ request: HTTPServer.AnsweredRequest) {
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
  var metrics: String {
    let name = MetricNames.prometheus(MetricNames.serverRequestDuration, unit: "seconds")
    func label(_ name: String, _ value: String) -> String { "\(MetricNames.prometheus(name))=\"\(value)\"" }
    var text = "# HELP \(name) Duration of requests until the response begins.\n# TYPE \(name) histogram\n"
    for (key, histogram) in histograms.withLock({ $0 }).sorted(by: { $0.key < $1.key }) {
      let labels = [
        label(MetricNames.Attribute.method, key.method),
        // A missing path has no route.
        key.route.isEmpty ? nil : label(MetricNames.Attribute.route, key.route),
        label(MetricNames.Attribute.status, "\(key.status)"),
      ]
      text += histogram.text(name, labels.compactMap { $0 }.joined(separator: ","))
    }
    return text
  }
}
