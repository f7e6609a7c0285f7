import FeedPolling
import FeedStreamMetrics
import Foundation

/// Metrics in the text format of Prometheus.
enum GalleryMetrics {
  static func text(_ gallery: Gallery, _ images: ServedImages, connections: Int, waiting: Int) -> String {
    var text = ""
    func family(_ name: String, _ type: String, _ help: String, _ samples: [(labels: String, value: Int)]) {
      text += "# HELP \(name) \(help)\n# TYPE \(name) \(type)\n"
      for sample in samples { text += "\(name)\(sample.labels) \(sample.value)\n" }
    }
    let labels = labels(gallery.sources)
    func feeds(_ value: (Gallery.Source) -> Int) -> [(String, Int)] {
      zip(labels, gallery.sources).map { ($0, value($1)) }
    }
    family("feed_checks_total", "counter", "Completed loads of a feed.", feeds(\.checks))
    family("feed_failures_total", "counter", "Loads that got no complete feed from the server.", feeds(\.failures))
    family(
      "feed_up", "gauge", "1 if the server's feed was available at the last load.",
      feeds { $0.checks > 0 && $0.trouble == nil ? 1 : 0 })
    family("feed_images", "gauge", "Shown images per feed.", feeds(\.entries.count))
    family(
      "feed_last_check_timestamp_seconds", "gauge", "Time when the last load completed.",
      feeds { Int($0.checked?.timeIntervalSince1970 ?? 0) })
    let outcome = MetricNames.prometheus(MetricNames.Attribute.pollOutcome)
    family(
      MetricNames.prometheus(MetricNames.polls, unit: "total"), "counter", "Polls of feeds by outcome.",
      PollOutcome.allCases.map { ("{\(outcome)=\"\($0.rawValue)\"}", gallery.polls[$0] ?? 0) })
    family(
      MetricNames.prometheus(MetricNames.serverConnections), "gauge", "Open connections.", [("", connections)])
    family(
      MetricNames.prometheus(MetricNames.serverWaitingBytes), "gauge", "Response bytes waiting to be written.",
      [("", waiting)])
    family("feed_serve_event_clients", "gauge", "Clients of event streams.", [("", gallery.eventClients)])
    family(
      "feed_serve_images_total", "counter", "Images that were requested.",
      [
        ("{from=\"cache\"}", images.fromCache), ("{from=\"server\"}", images.fromServers),
        ("{from=\"nowhere\"}", images.failures),
      ])
    family(
      "feed_serve_images_made_total", "counter", "Images that were decoded and resized.",
      [("", images.made)])
    return text
  }

  /// The labels of feeds: their URLs without secrets. URLs that differ only in their secrets are numbered, because no
  /// two samples may have the same labels.
  private static func labels(_ sources: [Gallery.Source]) -> [String] {
    var counts: [String: Int] = [:]
    return sources.map { source in
      let address = source.address.shown
      let count = counts[address, default: 0] + 1
      counts[address] = count
      return "{feed=\"\(address.metricLabel)\(count == 1 ? "" : " (\(count))")\"}"
    }
  }
}
