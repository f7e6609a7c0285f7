public import FeedStream

/// A request whose handler or body failed: see ``HTTPServer/onError``.
public struct FailedRequest: CustomStringConvertible {
  /// The error that was thrown, or with which the stream failed; a ``ServerResponseError`` if there was none.
  public let error: any Error
  public let method: HTTPMethod
  /// The path as received, without the query, which may contain secrets.
  public let path: String
  /// The client's address.
  public let peer: SocketAddress

  var request: String { "\(method) \(path) from \(peer)" }
  public var description: String { "\(request): \(error)" }
}

/// The reason why a response could not be sent as its handler returned it.
public enum ServerResponseError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The request was released, or its publisher finished, without a response. The client got status 500.
  case missing
  /// A header field has characters that HTTP does not allow. The client got status 500.
  case invalidField
  /// The body is longer than announced. The client received only the announced number of bytes.
  case bodyTooLong
  /// The body ended before the announced length. The connection was closed.
  case bodyTooShort(missing: Int)

  public var description: String {
    switch self {
    case .missing: "the handler delivered no response"
    case .invalidField: "the name or the value of a header field has characters that HTTP does not allow"
    case .bodyTooLong: "the body is longer than announced"
    case .bodyTooShort(let missing):
      "the body ended \(missing) \(missing == 1 ? "byte" : "bytes") before its announced length"
    }
  }
}
