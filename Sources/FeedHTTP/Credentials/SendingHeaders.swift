public import FeedStream
public import Foundation

extension HTTPClient {
  /// Adds header fields, such as those of ``Credentials``, to requests to one origin (scheme, host and port). Other
  /// origins don't get them, because a feed may contain any URL, and a redirect may lead to any. If a request already
  /// has a field of the same name, it keeps its own.
  ///
  ///     client.sending([credentials.header], to: feed)
  public func sending(_ headers: [HTTPRequest.Header], to origin: URL) -> HeadedHTTPClient {
    HeadedHTTPClient(client: self, headers: headers, origin: origin)
  }
}

/// A client that adds header fields: see ``HTTPClient/sending(_:to:)``.
public struct HeadedHTTPClient: HTTPClient {
  let client: any HTTPClient
  let headers: [HTTPRequest.Header]
  let origin: URL

  public var scheduler: (any LoopScheduler)? { client.scheduler }

  public func get(_ request: HTTPRequest) -> AnyPublisher<HTTPResponse, HTTPError> { client.get(headed(request)) }

  public func open(_ request: HTTPRequest) -> AnyPublisher<StreamingResponse, HTTPError> {
    client.open(headed(request))
  }

  public func events(for request: HTTPRequest) -> AnyPublisher<HTTPProgress, HTTPError> {
    client.events(for: headed(request))
  }

  func headed(_ request: HTTPRequest) -> HTTPRequest {
    guard !headers.isEmpty, request.url.hasSameOrigin(as: origin) else { return request }
    var request = request
    request.headers += headers.filter { !request.has($0.name) }
    return request
  }
}
