#if HTTPTypes
  public import FeedHTTPServer
  public import FeedStream
  public import HTTPTypes

  extension HTTPTypes.HTTPRequest {
    /// The method, the target, the host and the header fields of a request to a server; `nil` if the method isn't a
    /// token.
    ///
    /// - Parameter scheme: the scheme of the server's URLs. The server can't detect whether its connections use TLS.
    public init?(_ request: ServerRequest, scheme: String = "http") {
      guard let method = Method(request.method) else { return nil }
      self.init(
        method: method, scheme: scheme, authority: request.host, path: request.target,
        headerFields: HTTPFields(request.headers))
    }
  }

  extension HTTPTypes.HTTPResponse.Status {
    public init(_ status: HTTPStatus) { self.init(code: status.code, reasonPhrase: status.reason) }
  }

  extension ServerResponse {
    /// A response with this status, these fields and this body. The server sets the fields that delimit the body.
    ///
    /// - Precondition: the status is 200 to 599; only the server itself sends lower ones.
    public init(_ response: HTTPTypes.HTTPResponse, body: Chunk = Chunk()) {
      self.init(
        HTTPStatus(response.status.code), headers: HTTPHeaders(response.headerFields), body: body)
    }
  }
#endif
