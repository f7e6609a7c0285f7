import FeedHTTP
import FeedStreamMetrics

/// The durations of the gallery's requests to other servers. Use this object only on the gallery's loop.
final class SentRequests {
  private var histograms = LabeledHistograms(
    MetricNames.clientRequestDuration, help: "Duration of requests to other servers.",
    attributes: TimedHTTPClient.attributes)

  /// A client that counts its requests here.
  func counting(_ client: any HTTPClient) -> any HTTPClient {
    TimedHTTPClient(client) { [self] in histograms.add($0, $1) }
  }

  /// The durations in the text format of Prometheus.
  var metrics: String { histograms.text }
}
