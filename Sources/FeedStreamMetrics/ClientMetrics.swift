#if Metrics
  public import CoreMetrics
  public import FeedHTTP
  public import FeedStream

  extension HTTPClient {
    /// Records the duration of each request as ``MetricNames/clientRequestDuration``: until the response is complete,
    /// or, if its body is streamed, until the response begins.
    ///
    ///     let client = CurlHTTPClient(on: loop).metered().cached(in: MemoryHTTPCache())
    ///
    /// In this order, requests that the cache serves are not counted. The attributes are the method, the server's
    /// address and port, the scheme, and the status, or `error.type` for a failure. Cancelled requests are not
    /// recorded.
    ///
    /// - Parameters:
    ///   - servers: the maximum number of servers with their own metrics. Requests to all further servers are recorded
    ///     together, with the address `_OTHER` and without a port, because redirects, pages and feeds lead to any number
    ///     of servers.
    ///   - factory: makes the metrics; the process's factory by default.
    public func metered(
      servers: Int = 100, factory: any MetricsFactory = MetricsSystem.factory
    ) -> MeteredHTTPClient {
      MeteredHTTPClient(client: self, servers, factory)
    }
  }

  /// See ``FeedHTTP/HTTPClient/metered(servers:factory:)``.
  public struct MeteredHTTPClient: HTTPClient {
    private let client: TimedHTTPClient

    init(client: any HTTPClient, _ servers: Int, _ factory: any MetricsFactory) {
      let durations = RequestDurations(MetricNames.clientRequestDuration, TimedHTTPClient.attributes, factory)
      self.client = TimedHTTPClient(client, servers: servers, report: durations.record)
    }

    public var scheduler: (any LoopScheduler)? { client.scheduler }

    public func get(_ request: HTTPRequest) -> AnyPublisher<HTTPResponse, HTTPError> { client.get(request) }

    public func open(_ request: HTTPRequest) -> AnyPublisher<StreamingResponse, HTTPError> { client.open(request) }

    public func events(for request: HTTPRequest) -> AnyPublisher<HTTPProgress, HTTPError> {
      client.events(for: request)
    }
  }
#endif
