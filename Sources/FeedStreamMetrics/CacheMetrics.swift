#if Metrics
  public import CoreMetrics
  public import FeedHTTP

  /// Counts an HTTP cache's decisions, as ``MetricNames/cacheEvents``.
  ///
  ///     var options = HTTPCacheOptions()
  ///     options.report = CacheMetrics().record
  ///     let client = CurlHTTPClient(on: loop).cached(in: MemoryHTTPCache(), options)
  ///
  /// The ``MetricNames/Attribute/cacheEvent`` attribute is the name of the decision
  /// (``FeedHTTP/HTTPCacheEvent/Kind-swift.enum``): `fresh` and `stale` are responses without a request to the server,
  /// and `missed` and `bypassed` are requests. `validating` is a conditional request, followed by `validated` if the
  /// stored response is still valid. Use this object only on the client's thread.
  public final class CacheMetrics {
    private let counts: Counts

    /// - Parameter factory: makes the metrics; the process's factory by default.
    public init(factory: any MetricsFactory = MetricsSystem.factory) {
      counts = Counts(MetricNames.cacheEvents, by: MetricNames.Attribute.cacheEvent, factory)
    }

    public func record(_ event: HTTPCacheEvent) { counts.count(caseName(of: event.kind)) }
  }
#endif
