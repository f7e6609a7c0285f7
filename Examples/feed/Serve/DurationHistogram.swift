import FeedStreamMetrics

/// Durations in seconds, counted for Prometheus in the buckets that OpenTelemetry's conventions recommend.
struct DurationHistogram {
  private static let bounds = MetricNames.durationBounds
  /// For each bound, the number of durations that are at most that long, but longer than the previous bound.
  private var counts = [Int](repeating: 0, count: bounds.count + 1)
  private var sum = 0.0

  mutating func add(_ duration: Duration) {
    let seconds = duration / .seconds(1)
    counts[Self.bounds.firstIndex { seconds <= $0 } ?? Self.bounds.count] += 1
    sum += seconds
  }

  /// The samples in the text format of Prometheus.
  ///
  /// - Parameter labels: the labels without braces.
  func text(_ name: String, _ labels: String) -> String {
    var (text, count) = ("", 0)
    for (bound, more) in zip(Self.bounds.map { "\($0)" } + ["+Inf"], counts) {
      count += more
      text += "\(name)_bucket{\(labels),le=\"\(bound)\"} \(count)\n"
    }
    return text + "\(name)_sum{\(labels)} \(sum)\n\(name)_count{\(labels)} \(count)\n"
  }
}
