import FeedStream
import Foundation

/// An HTTP client: ``CurlHTTPClient``, or a test's stub.
///
/// A client belongs to one loop, as streams do, and so isn't `Sendable`.
public protocol HTTPClient {
  /// The scheduler of the client's streams, if known: it times pauses, such as those of `events(at:_:on:)`.
  var scheduler: (any LoopScheduler)? { get }

  /// Sends a request, and delivers the complete response.
  ///
  /// One subscription is one request: nothing is sent until a subscriber requests a value, and each subscriber makes
  /// its own request.
  ///
  /// **Demand:** the response is delivered once requested, and completion follows it. **Failure:** the reason why no
  /// complete response arrived. A response with a status other than 200 isn't a failure. **Cancellation:** closes the
  /// transfer immediately; nothing is delivered afterwards.
  func get(_ request: HTTPRequest) -> AnyPublisher<HTTPResponse, HTTPError>

  /// Sends a request, and delivers the response's body as it arrives.
  ///
  /// Like ``get(_:)-(HTTPRequest)``, but delivers the response as soon as its head has arrived; the body reports later
  /// failures. A response with status 401, 407 or 417 may be delivered later, when the first bytes of its body have
  /// arrived or its body has ended. **Cancellation:** closes the transfer if the response has not been delivered. After
  /// that, the transfer is closed when the subscription to the body is cancelled, or when the response is dropped
  /// without a subscription to its body.
  ///
  /// In one chain, `client.open(request).flatMapLatest { $0.body }` delivers all bytes that arrive. `flatMap` holds a
  /// chunk until it is requested, and drops it if the connection is cut.
  ///
  /// A client that does not implement this delivers the body when it is complete.
  func open(_ request: HTTPRequest) -> AnyPublisher<StreamingResponse, HTTPError>

  /// Sends a request, and reports its progress.
  ///
  /// The last value is the response (``HTTPProgress/finished(_:)``). A client that does not implement this delivers
  /// only the response.
  ///
  /// **Demand:** the request is sent when the first value is requested. Progress without demand is dropped; the
  /// response is kept until it is requested. **Failure, cancellation:** as in ``get(_:)-(HTTPRequest)``.
  func events(for request: HTTPRequest) -> AnyPublisher<HTTPProgress, HTTPError>
}

extension HTTPClient {
  public var scheduler: (any LoopScheduler)? { nil }

  public func open(_ request: HTTPRequest) -> AnyPublisher<StreamingResponse, HTTPError> {
    get(request).map(StreamingResponse.init).eraseToAnyPublisher()
  }

  public func events(for request: HTTPRequest) -> AnyPublisher<HTTPProgress, HTTPError> {
    get(request).map { .finished($0) }.eraseToAnyPublisher()
  }

  /// Gets the resource at `url`, within the default limits of an ``HTTPRequest``.
  public func get(_ url: URL) -> AnyPublisher<HTTPResponse, HTTPError> { get(HTTPRequest(url)) }
}
