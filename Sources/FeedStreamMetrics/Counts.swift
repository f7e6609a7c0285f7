#if Metrics
  import CoreMetrics

  /// The counters of one metric: one for each value of an attribute, made on first use. Use this object on one
  /// thread only.
  final class Counts {
    private let label: String
    private let attribute: String
    private let factory: any MetricsFactory
    private var counters: [String: Counter] = [:]

    init(_ label: String, by attribute: String, _ factory: any MetricsFactory) {
      (self.label, self.attribute, self.factory) = (label, attribute, factory)
    }

    func count(_ value: String) {
      let counter = counters[value] ?? make(value)
      counter.increment()
    }

    private func make(_ value: String) -> Counter {
      let counter = Counter(label: label, dimensions: [(attribute, value)], factory: factory)
      counters[value] = counter
      return counter
    }
  }
#endif
