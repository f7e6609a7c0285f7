public import FeedStream
public import Foundation

/// A response whose body is still arriving.
public struct StreamingResponse {
  /// The status code. The caller decides which codes are errors.
  public var status: Int
  /// The header fields of the final response.
  public var headers: HTTPHeaders
  /// The URL that the response comes from: the requested one, or the last one that a redirect led to.
  public var url: URL
  /// The body as it arrives, decompressed unless ``HTTPRequest/decodesContent`` is false or the status is 206. It can
  /// be subscribed to once.
  ///
  /// **Demand:** a chunk is delivered when it is requested; without demand, the connection is not read beyond a few
  /// hundred kilobytes. **Failure:** the reason why the body did not arrive in full, delivered after the bytes that did
  /// arrive. **Cancellation:** closes the transfer immediately.
  public var body: AnyPublisher<Chunk, HTTPError>
  /// The redirects that led to ``url``, in order; empty if there were none.
  public var redirects: [HTTPRedirect]
  /// See ``HTTPResponse/isPrivate``.
  package var isPrivate: Bool?

  public init(
    status: Int, headers: HTTPHeaders = [], url: URL, body: AnyPublisher<Chunk, HTTPError>,
    redirects: [HTTPRedirect] = []
  ) {
    self.status = status
    self.headers = headers
    self.url = url
    self.body = body
    self.redirects = redirects
  }

  /// A response that is already complete.
  public init(_ response: HTTPResponse) {
    let body = response.body.isEmpty ? [] : [response.body.withUnsafeBytes { Chunk(copying: $0) }]
    self.init(
      status: response.status, headers: response.headers, url: response.url,
      body: body.publisher.setFailureType(to: HTTPError.self).eraseToAnyPublisher(), redirects: response.redirects)
    isPrivate = response.isPrivate
  }
}
