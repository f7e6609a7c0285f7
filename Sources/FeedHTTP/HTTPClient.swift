import FeedStream
import Foundation

/// What the feed asks of HTTP: the port that ``CurlHTTPClient`` and a test's stub fit.
///
/// A client lives on one loop, as streams do, and so is not `Sendable`.
public protocol HTTPClient {
  /// Gets what is at an address.
  ///
  /// One subscription is one request: nothing is sent before a subscriber attaches and asks for a value, and every
  /// subscriber has a request of its own.
  ///
  /// **Demand:** the response is delivered once asked for, and completion follows it. **Failure:** whatever kept a whole
  /// response from arriving; a status other than 200 is a response. **Cancellation:** closes the transfer at once;
  /// nothing is delivered afterwards.
  func get(_ request: HTTPRequest) -> AnyPublisher<HTTPResponse, HTTPError>
}

extension HTTPClient {
  /// Gets what is at `url`, within the limits that an ``HTTPRequest`` has by default.
  public func get(_ url: URL) -> AnyPublisher<HTTPResponse, HTTPError> { get(HTTPRequest(url)) }
}
