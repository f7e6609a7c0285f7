import FeedStreamMetrics

/// A Prometheus histogram of durations, with a series for each combination of labels.
struct LabeledHistograms {
  private let name: String
  private let help: String
  private let labels: [String]
  private var histograms: [[String]: DurationHistogram] = [:]

  /// - Parameters:
  ///   - metric: one of ``MetricNames``.
  ///   - attributes: the names of the labels, each one of ``MetricNames/Attribute``.
  init(_ metric: String, help: String, attributes: [String]) {
    name = MetricNames.prometheus(metric, unit: "seconds")
    labels = attributes.map { MetricNames.prometheus($0) }
    self.help = help
  }

  /// - Parameter values: the labels' values, in the order of their names; empty ones are left out.
  mutating func add(_ duration: Duration, _ values: [String]) {
    histograms[values, default: DurationHistogram()].add(duration)
  }

  /// The series in the text format of Prometheus.
  var text: String {
    var text = "# HELP \(name) \(help)\n# TYPE \(name) histogram\n"
    for (values, histogram) in histograms.sorted(by: { $0.key.lexicographicallyPrecedes($1.key) }) {
      let pairs = zip(labels, values).filter { !$1.isEmpty }.map { "\($0)=\"\($1.metricLabel)\"" }
      text += histogram.text(name, pairs.joined(separator: ","))
    }
    return text
  }
}
