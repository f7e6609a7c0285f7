import FeedHTTPServer
import FeedStreamMetrics
import Logging
import PlainText
import Synchronization

/// The durations of requests, by method and status, for all loops together, and a log of the requests.
final class ServedRequests: Sendable {
  private struct Key: Hashable, Comparable {
    let method: String
    let status: Int

    static func < (a: Self, b: Self) -> Bool { (a.method, a.status) < (b.method, b.status) }
  }

  private struct Histogram {
    /// For each bound, the number of requests that took at most that time, but longer than the previous bound.
    var counts = [Int](repeating: 0, count: MetricNames.durationBounds.count + 1)
    var sum = 0.0
  }

  private let histograms = Mutex<[Key: Histogram]>([:])
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
    let key = Key(method: MetricNames.method(request.method.rawValue), status: request.status.code)
    let seconds = request.duration / .seconds(1)
    let bounds = MetricNames.durationBounds
    let index = bounds.firstIndex { seconds <= $0 } ?? bounds.count
    histograms.withLock {
      $0[key, default: Histogram()].counts[index] += 1
      $0[key]?.sum += seconds
    }
  }

  private func write(_ request: HTTPServer.AnsweredRequest) {
    var metadata: Logger.Metadata = [
      MetricNames.Attribute.method: "\(request.method)", "url.path": "\(request.path.printable)",
      MetricNames.Attribute.status: "\(request.status.code)", "duration": "\(request.duration)",
      "client.address": "\(request.peer)",
    ]
    if let id = request.id { metadata["request.id"] = "\(id)" }
    log.debug("served", metadata: metadata)
  }

  /// The durations in the text format of Prometheus.
  var metrics: String {
    let name = MetricNames.prometheus(MetricNames.serverRequestDuration, unit: "seconds")
    let (method, status) = (
      MetricNames.prometheus(MetricNames.Attribute.method), MetricNames.prometheus(MetricNames.Attribute.status)
    )
    var text = "# HELP \(name) Duration of requests until the response begins.\n# TYPE \(name) histogram\n"
    for (key, histogram) in histograms.withLock({ $0 }).sorted(by: { $0.key < $1.key }) {
      let labels = "\(method)=\"\(key.method)\",\(status)=\"\(key.status)\""
      var count = 0
      for (bound, more) in zip(MetricNames.durationBounds.map { "\($0)" } + ["+Inf"], histogram.counts) {
        count += more
        text += "\(name)_bucket{\(labels),le=\"\(bound)\"} \(count)\n"
      }
      text += "\(name)_sum{\(labels)} \(histogram.sum)\n\(name)_count{\(labels)} \(count)\n"
    }
    return text
  }
}
