#if Metrics
  public import CoreMetrics
  internal import FeedStream

  /// Counts feed polls by outcome, as ``MetricNames/polls``, and records how late they are, as
  /// ``MetricNames/pollLateness``.
  ///
  ///     let metrics = PollMetrics()
  ///     var options = FeedPoller.Options()
  ///     options.onOutcome = { metrics.record($1) }
  ///
  /// A fleet's worker also reports lateness:
  ///
  ///     let subscription = worker.sink { metrics.record($0.outcome, lateness: $0.lateness) }
  ///
  /// This module doesn't import the poller, so that programs without a poller don't build it. Use this object on one
  /// thread only.
  public final class PollMetrics {
    private let counts: Counts
    private let lateness: CoreMetrics.Timer

    /// - Parameter factory: makes the metrics; the process's factory by default.
    public init(factory: any MetricsFactory = MetricsSystem.factory) {
      counts = Counts(MetricNames.polls, by: MetricNames.Attribute.pollOutcome, factory)
      lateness = CoreMetrics.Timer(
        label: MetricNames.pollLateness, dimensions: [], preferredDisplayUnit: .seconds, factory: factory)
    }

    /// - Parameters:
    ///   - outcome: a `PollOutcome`; its raw value is the value of the ``MetricNames/Attribute/pollOutcome`` attribute.
    ///   - lateness: the time between the due time and the poll; `nil` if it is unknown.
    public func record<Outcome: RawRepresentable<String>>(_ outcome: Outcome, lateness: Duration? = nil) {
      counts.count(outcome.rawValue)
      if let lateness { self.lateness.recordNanoseconds(lateness.wholeNanoseconds) }
    }
  }
#endif
