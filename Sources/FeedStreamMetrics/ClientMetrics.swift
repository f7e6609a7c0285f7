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
    /// - Parameter factory: makes the metrics; the process's factory by default.
    public func metered(factory: any MetricsFactory = MetricsSystem.factory) -> MeteredHTTPClient {
      MeteredHTTPClient(client: self, factory)
    }
  }

  /// See ``FeedHTTP/HTTPClient/metered(factory:)``.
  public struct MeteredHTTPClient: HTTPClient {
    let client: any HTTPClient
    private let durations: RequestDurations

    init(client: any HTTPClient, _ factory: any MetricsFactory) {
      typealias Name = MetricNames.Attribute
      self.client = client
      durations = RequestDurations(
        MetricNames.clientRequestDuration,
        [Name.method, Name.serverAddress, Name.serverPort, Name.scheme, Name.status, Name.errorType], factory)
    }

    public var scheduler: (any LoopScheduler)? { client.scheduler }

    public func get(_ request: HTTPRequest) -> AnyPublisher<HTTPResponse, HTTPError> {
      timed(client.get(request), request) { $0.status }
    }

    public func open(_ request: HTTPRequest) -> AnyPublisher<StreamingResponse, HTTPError> {
      timed(client.open(request), request) { $0.status }
    }

    public func events(for request: HTTPRequest) -> AnyPublisher<HTTPProgress, HTTPError> {
      timed(client.events(for: request), request) {
        if case .finished(let response) = $0 { response.status } else { nil }
      }
    }

    /// - Parameter status: returns the status if a value completes the request; otherwise, `nil`.
    private func timed<Value>(
      _ publisher: AnyPublisher<Value, HTTPError>, _ request: HTTPRequest, status: @escaping (Value) -> Int?
    ) -> AnyPublisher<Value, HTTPError> {
      let durations = durations
      return Deferred {
        let began = ContinuousClock.now
        let scheme = request.url.scheme?.lowercased() ?? ""
        let port = request.url.port ?? (scheme == "https" ? 443 : 80)
        func record(_ status: String, _ error: String) {
          durations.record(
            began.duration(to: .now),
            [
              MetricNames.method(request.method.rawValue), request.url.host ?? "", String(port), scheme, status, error,
            ])
        }
        return publisher.handleEvents(
          receiveOutput: { value in
            guard let code = status(value) else { return }
            record(String(code), code >= 400 ? String(code) : "")
          },
          receiveCompletion: { if case .failure(let error) = $0 { record("", caseName(of: error.kind)) } })
      }
      .eraseToAnyPublisher()
    }
  }

  /// The name of an enumeration's case without its details, such as `timedOut`.
  func caseName<Value>(of value: Value) -> String { String("\(value)".prefix { $0 != "(" }) }
#endif
