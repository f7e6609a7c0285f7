package import FeedHTTP
package import FeedStream

/// An HTTP client that reports how long each request took, for ``MetricNames/clientRequestDuration``: until the response
/// is complete, or, if its body is streamed, until the response begins. Cancelled requests are not reported.
package struct TimedHTTPClient: HTTPClient {
  /// The names of the attributes, in the order of their values.
  package static let attributes = [
    MetricNames.Attribute.method, MetricNames.Attribute.serverAddress, MetricNames.Attribute.serverPort,
    MetricNames.Attribute.scheme, MetricNames.Attribute.status, MetricNames.Attribute.errorType,
  ]

  private let client: any HTTPClient
  private let servers: MeteredServers
  private let report: (Duration, [String]) -> Void

  /// - Parameters:
  ///   - servers: the maximum number of servers that are named, because redirects, pages and feeds lead to any number of
  ///     servers. All further servers are reported as `_OTHER`.
  ///   - report: receives the duration and the attributes' values, which are empty if they don't apply.
  package init(_ client: any HTTPClient, servers: Int = 100, report: @escaping (Duration, [String]) -> Void) {
    self.client = client
    self.servers = MeteredServers(limit: servers)
    self.report = report
  }

  package var scheduler: (any LoopScheduler)? { client.scheduler }

  package func get(_ request: HTTPRequest) -> AnyPublisher<HTTPResponse, HTTPError> {
    timed(client.get(request), request) { $0.status }
  }

  package func open(_ request: HTTPRequest) -> AnyPublisher<StreamingResponse, HTTPError> {
    timed(client.open(request), request) { $0.status }
  }

  package func events(for request: HTTPRequest) -> AnyPublisher<HTTPProgress, HTTPError> {
    timed(client.events(for: request), request) {
      if case .finished(let response) = $0 { response.status } else { nil }
    }
  }

  /// - Parameter status: returns the status if a value completes the request; otherwise, `nil`.
  private func timed<Value>(
    _ publisher: AnyPublisher<Value, HTTPError>, _ request: HTTPRequest, status: @escaping (Value) -> Int?
  ) -> AnyPublisher<Value, HTTPError> {
    let (servers, report) = (servers, report)
    return Deferred {
      let began = ContinuousClock.now
      let scheme = request.url.scheme?.lowercased() ?? ""
      let port = request.url.port ?? (scheme == "https" ? 443 : 80)
      func record(_ status: String, _ error: String) {
        let host = request.url.host ?? ""
        let (server, serverPort) = servers.admits(host, port) ? (host, String(port)) : ("_OTHER", "")
        report(began.duration(to: .now), [request.method.telemetryName, server, serverPort, scheme, status, error])
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

/// The servers with their own metrics: the first ones, up to a limit.
private final class MeteredServers {
  private let limit: Int
  private var known: Set<String> = []

  init(limit: Int) { self.limit = limit }

  func admits(_ host: String, _ port: Int) -> Bool {
    let server = "\(host):\(port)"
    if known.contains(server) { return true }
    guard known.count < limit else { return false }
    known.insert(server)
    return true
  }
}
