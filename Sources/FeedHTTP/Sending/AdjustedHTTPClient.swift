public import FeedStream

extension HTTPClient {
  /// A client that changes each request before sending it, for settings that all of its requests share.
  ///
  ///     let client = CurlHTTPClient(on: loop).adjusting {
  ///       $0.timeout = .seconds(5)
  ///       $0.headers.append(.init(name: "Accept", value: "application/json"))
  ///     }
  ///
  /// Added fields go to every host, so use ``sending(_:to:)`` for secrets instead.
  public func adjusting(_ adjust: @escaping (inout HTTPRequest) -> Void) -> AdjustedHTTPClient {
    AdjustedHTTPClient(client: self, adjust: adjust)
  }
}

/// See ``HTTPClient/adjusting(_:)``.
public struct AdjustedHTTPClient: HTTPClient {
  let client: any HTTPClient
  let adjust: (inout HTTPRequest) -> Void

  public var scheduler: (any LoopScheduler)? { client.scheduler }

  public func get(_ request: HTTPRequest) -> AnyPublisher<HTTPResponse, HTTPError> { client.get(adjusted(request)) }

  public func open(_ request: HTTPRequest) -> AnyPublisher<StreamingResponse, HTTPError> {
    client.open(adjusted(request))
  }

  public func events(for request: HTTPRequest) -> AnyPublisher<HTTPProgress, HTTPError> {
    client.events(for: adjusted(request))
  }

  private func adjusted(_ request: HTTPRequest) -> HTTPRequest {
    var request = request
    adjust(&request)
    return request
  }
}
