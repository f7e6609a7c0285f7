public import Foundation

/// A whole answer.
public struct HTTPResponse: Sendable, Equatable {
  /// The status code, whatever it is: judging it is the caller's.
  public var status: Int
  /// The header fields of the final answer.
  public var headers: HTTPHeaders
  /// The body, decompressed.
  public var body: Data
  /// Where the answer came from: the address asked for, or the last one that a redirect led to.
  public var url: URL

  public init(status: Int, headers: HTTPHeaders = [], body: Data, url: URL) {
    self.status = status
    self.headers = headers
    self.body = body
    self.url = url
  }
}
