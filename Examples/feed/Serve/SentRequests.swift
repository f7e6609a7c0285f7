import FeedHTTP
import FeedStreamMetrics

/// The durations of the gallery's requests to other servers. Lives on the gallery's loop.
final class SentRequests {
  /// The number of servers that get series of their own; a page of many images names any number of servers. The
  /// requests to all further servers are counted together, as `_OTHER`.
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
