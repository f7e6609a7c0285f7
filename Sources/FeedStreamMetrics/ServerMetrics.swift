#if Metrics
  public import CoreMetrics
  public import FeedHTTPServer

  extension HTTPMiddleware {
    /// Records the duration of each request as ``MetricNames/serverRequestDuration``, when its response begins.
    ///
    ///     routes.use(.metrics())
    ///
    /// The attributes are the method, the route, the status, the scheme, and, for statuses of 500 and above,
    /// `error.type`. Add this middleware before any other, so that it sees all responses. Requests whose client
    /// disconnects before the response are not recorded.
    ///
    /// - Parameters:
    ///   - scheme: the scheme of the server's URLs. The server can't detect whether its connections use TLS.
    ///   - factory: makes the metrics; the process's factory by default.
    public static func metrics(scheme: String = "http", factory: any MetricsFactory = MetricsSystem.factory) -> Self {
      typealias Name = MetricNames.Attribute
      let durations = RequestDurations(
        MetricNames.serverRequestDuration, [Name.method, Name.route, Name.status, Name.scheme, Name.errorType], factory)
      return log { request in
        let status = String(request.status.code)
        durations.record(
          request.duration,
          [
            MetricNames.method(request.method.rawValue), request.route ?? "", status, scheme,
            request.status.code >= 500 ? status : "",
          ])
      }
    }
  }
#endif
