#if Metrics
  import CoreMetrics
  internal import FeedStream

  /// The timers of one metric: one for each combination of attributes, made on first use. Use this object on one
  /// thread only.
  final class RequestDurations {
    private struct Key: Hashable {
      var attributes: [String]
    }

    private let label: String
    private let names: [String]
    private let factory: any MetricsFactory
    private var timers: [Key: CoreMetrics.Timer] = [:]

    /// - Parameter names: the names of the attributes.
    init(_ label: String, _ names: [String], _ factory: any MetricsFactory) {
      (self.label, self.names, self.factory) = (label, names, factory)
    }

    /// - Parameter attributes: the attributes' values, in the order of the names; empty ones are left out.
    func record(_ duration: Duration, _ attributes: [String]) {
      let key = Key(attributes: attributes)
      let timer = timers[key] ?? make(key)
      timer.recordNanoseconds(duration.wholeNanoseconds)
    }

    private func make(_ key: Key) -> CoreMetrics.Timer {
      let dimensions = zip(names, key.attributes).filter { !$1.isEmpty }
      let timer = CoreMetrics.Timer(
        label: label, dimensions: dimensions.map { ($0, $1) }, preferredDisplayUnit: .seconds, factory: factory)
      timers[key] = timer
      return timer
    }
  }
#endif
