import CLibrary
public import FeedStream

/// A request that is waiting for its response.
///
/// Respond to it once; a request that is released without a response gets status 500, and is reported. Use it on its
/// scheduler's thread.
public struct ServerRequest {
  let exchange: Exchange
  /// The values of the placeholders in the route: see ``HTTPRoutes``.
  public internal(set) var parameters: [String: String] = [:]
  /// Information that middleware leaves for handlers: see ``user``.
  public var notes: [String: String] = [:]

  init(_ exchange: Exchange) { self.exchange = exchange }

  private var head: RequestHead { exchange.head }

  public var method: HTTPMethod { head.method }
  /// The target as received: `/a%20b?c=d`.
  public var target: String { head.text(head.target) }
  public var targetForm: RequestTargetForm { head.form }
  /// True if the target's path, before unescaping, equals `path`.
  func hasPath(_ path: [UInt8]) -> Bool {
    guard head.form == .origin, head.path.count == path.count else { return false }
    return head.bytes.withUnsafeBytes { bytes in
      path.withUnsafeBytes { memcmp(bytes.baseAddress! + Int(head.path.start), $0.baseAddress!, $0.count) == 0 }
    }
  }

  /// The path of the target, as received, without the query; empty for `*` and CONNECT.
  public var path: String { head.path.count == 0 && head.form == .absolute ? "/" : head.text(head.path) }
  /// The path of the route that serves the request, with its placeholders, such as `/feeds/:name`; `nil` if there is
  /// no route, or none has been chosen yet. Middleware for all routes reads it after the response.
  public var route: String? { exchange.route }
  /// The query of the target, after the question mark, as received; `nil` if there is none.
  public var query: String? { head.query.map(head.text) }
  /// The requested host, and the port if it was given: from the target if it contains a host, otherwise from `Host`.
  /// The value isn't verified; it is `nil` for HTTP/1.0 requests without `Host`.
  public var host: String? { head.authority.map(head.text) }
  public var headers: HTTPHeaders { HTTPHeaders(head) }
  /// `1.0` or `1.1`.
  public var version: String { head.minorVersion == 0 ? "1.0" : "1.1" }
  /// The client's address.
  public var peer: SocketAddress { exchange.connection.peer }
  /// True if the routes respond to errors with problem details: see ``HTTPRoutes/usesProblems``.
  package var usesProblems: Bool { exchange.usesProblems }
  /// The scheduler on which the server runs.
  public var scheduler: any LoopScheduler { exchange.connection.scheduler }

  /// The unescaped value of a query parameter (`a=b&c=d`).
  public func query(_ name: String) -> String? { Percent.value(of: name, in: query) }

  /// The request's body, as it arrives.
  ///
  /// A client that waits for permission to send the body (`Expect: 100-continue`) gets that permission with the first
  /// demand, unless the response has already begun. An unread body is discarded after the response if it is short; if
  /// it is long, the connection is closed.
  ///
  /// **Demand:** reads one chunk at a time from the connection; without demand, the client has to wait. **Failure:**
  /// ``RequestBodyError``; a second subscriber gets ``RequestBodyError/taken``. **Cancellation:** the rest is
  /// discarded. **Policy:** holds one chunk.
  public var body: RequestBody { RequestBody(exchange: exchange) }

  /// The trailers of a chunked body, once the body has ended.
  public var trailers: HTTPHeaders { exchange.connection.trailers(of: exchange) }

  /// Sends the response. Further responses are dropped, and so are responses to a client that has disconnected.
  public func respond(_ response: ServerResponse) { exchange.respond(response) }

  /// Responds with the first value of `publisher`, which is cancelled if the connection breaks first. A client that
  /// closes only its sending side may still be waiting, so the publisher continues in that case.
  ///
  /// A failure that is an `HTTPStatus` or ``ProblemDetails`` becomes the response. Any other failure, or a completion
  /// without a value, becomes status 500 and is reported (``HTTPServer/onError``).
  public func respond<P: Publisher>(_ publisher: P) where P.Output == ServerResponse {
    exchange.respond(publisher.eraseFailureType().eraseToAnyPublisher())
  }

  /// Sends the reply's response, now or once its publisher delivers it.
  func respond(_ reply: HTTPReply) {
    switch reply {
    case .now(let response): exchange.respond(response)
    case .later(let publisher): exchange.respond(publisher)
    }
  }
}
