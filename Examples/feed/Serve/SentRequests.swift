import FeedHTTP
import FeedStreamMetrics

/// The durations of the gallery's requests to other servers. Use this object only on the gallery's loop.
final class SentRequests {
  /// The maximum number of servers with their own series, because the images of a page may be on any number of servers.
  /// Requests to all other servers are counted together, as `_OTHER`.
  private static let maxServers = 100

  private var servers: Set<String> = []
  private var histograms = LabeledHistograms(
    MetricNames.clientRequestDuration, help: "Duration of requests to other servers.",
    attributes: TimedHTTPClient.attributes)

  /// A client that counts its requests here.
  func counting(_ client: any HTTPClient) -> any HTTPClient {
    TimedHTTPClient(client) { [self] duration, attributes in
      var attributes = attributes
      if !counts(attributes[1]) { (attributes[1], attributes[2]) = ("_OTHER", "") }
      histograms.add(duration, attributes)
    }
  }

  private func counts(_ server: String) -> Bool {
    if servers.contains(server) { return true }
    guard servers.count < Self.maxServers else { return false }
    servers.insert(server)
    return true
  }

  /// The durations in the text format of Prometheus.
  var metrics: String { histograms.text }
}
