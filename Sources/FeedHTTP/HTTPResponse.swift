public import Foundation

/// A complete response.
public struct HTTPResponse: Sendable, Equatable {
  /// The status code. The caller decides which codes are errors.
  public var status: Int
  /// The header fields of the final response.
  public var headers: HTTPHeaders
  /// The body, decompressed unless ``HTTPRequest/decodesContent`` is false or the status is 206.
  public var body: Data
  /// The URL of the response: the one requested, or the last one that a redirect led to.
  public var url: URL
  /// The redirects that led to ``url``, in order; empty if there were none.
  public var redirects: [HTTPRedirect]
  /// True if the response came from a private network, and false if not; `nil` if that is unknown because a proxy
  /// made the connection.
  package var isPrivate: Bool?

  public init(status: Int, headers: HTTPHeaders = [], body: Data, url: URL, redirects: [HTTPRedirect] = []) {
    self.status = status
    self.headers = headers
    self.body = body
    self.url = url
    self.redirects = redirects
  }
}
