public import Foundation

extension HTTPClient {
  /// Adds header fields, such as those of ``Credentials``, to requests to one origin (scheme, host and port). Other
  /// origins don't get them, because a feed may contain any URL, and a redirect may lead to any. If a request already
  /// has a field of the same name, it keeps its own.
  ///
  ///     client.sending([credentials.header], to: feed)
  public func sending(_ headers: [HTTPRequest.Header], to origin: URL) -> AdjustedHTTPClient {
    adjusting { request in
      guard request.url.hasSameOrigin(as: origin) else { return }
      let others = headers.filter { !request.has($0.name) }
      request.headers += others
    }
  }
}
