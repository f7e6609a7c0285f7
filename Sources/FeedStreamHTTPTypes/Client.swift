#if HTTPTypes
  public import FeedHTTP
  public import Foundation
  public import HTTPTypes

  extension FeedHTTP.HTTPRequest {
    /// A request for FeedHTTP's clients; `nil` if it has no http or https URL, its authority isn't a host and a port, or
    /// its path doesn't begin with a slash or has a fragment.
    ///
    ///     client.get(FeedHTTP.HTTPRequest(request, body: .text("Milk"))!)
    ///
    /// The fields that delimit the body are left out, because the client sets them.
    public init?(_ request: HTTPTypes.HTTPRequest, body: HTTPBody? = nil) {
      let path = request.path ?? "/"
      // Other paths, such as `@example.org/`, would become part of the URL's host. `URL` reads bytes, and a character
      // can be more than a delimiter.
      guard path.isEmpty || path.hasPrefix("/") || path.hasPrefix("?"), !path.utf8.contains(UInt8(ascii: "#"))
      else { return nil }
      guard let scheme = request.scheme?.lowercased(), ["http", "https"].contains(scheme), let host = request.authority,
        !host.isEmpty, !host.utf8.contains(where: { "/?#@\\".utf8.contains($0) }),
        let url = URL(string: "\(scheme)://\(host)\(path)")
      else { return nil }
      self.init(url)
      method = HTTPMethod(request.method)
      headers = request.headerFields.compactMap { field in
        let isSet = field.name == .contentLength || field.name == .transferEncoding
        return isSet ? nil : Header(name: field.name.rawName, value: field.value)
      }
      self.body = body
    }
  }

  extension HTTPTypes.HTTPRequest {
    /// The method, the URL and the header fields of a request; `nil` if its method isn't a token, or its URL has no
    /// host.
    public init?(_ request: FeedHTTP.HTTPRequest) {
      guard let method = Method(request.method), let name = request.url.host(), let scheme = request.url.scheme else {
        return nil
      }
      // An IPv6 address is in brackets, which Foundation removes.
      let host = name.contains(":") ? "[\(name)]" : name
      let authority = request.url.port.map { "\(host):\($0)" } ?? host
      let path = request.url.path(percentEncoded: true)
      let query = request.url.query(percentEncoded: true).map { "?\($0)" } ?? ""
      self.init(
        method: method, scheme: scheme, authority: authority, path: (path.isEmpty ? "/" : path) + query,
        headerFields: HTTPFields(HTTPHeaders(request.headers.map { (name: $0.name, value: $0.value) })))
    }
  }

  extension HTTPTypes.HTTPResponse {
    /// The status and the header fields of a response.
    public init(_ response: FeedHTTP.HTTPResponse) {
      self.init(status: Status(code: response.status), headerFields: HTTPFields(response.headers))
    }

    /// The status and the header fields of a response whose body is still arriving.
    public init(_ response: StreamingResponse) {
      self.init(status: Status(code: response.status), headerFields: HTTPFields(response.headers))
    }
  }
#endif
