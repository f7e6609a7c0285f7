public import FeedStream

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

extension HTTPServer {
  /// A request that is waiting for its response.
  ///
  /// Respond to it once; a request that is released without a response gets status 500, and is reported. Use it on its
  /// scheduler's thread.
  public struct Request {
    let exchange: Exchange
    /// The values of the placeholders in the route: see ``HTTPServer/Routes``.
    public internal(set) var parameters: [String: String] = [:]
    /// Information that middleware leaves for handlers: see ``user``.
    public var notes: [String: String] = [:]

    init(_ exchange: Exchange) { self.exchange = exchange }

    private var head: RequestHead { exchange.head }

    public var method: Method { head.method }
    /// The target as received: `/a%20b?c=d`.
    public var target: String { head.text(head.target) }
    public var targetForm: TargetForm { head.form }
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

    /// The unescaped value of a query parameter (`a=b&c=d`).
    public func query(_ name: String) -> String? { Percent.value(of: name, in: query) }

    /// The request's body, as it arrives.
    ///
    /// A client that waits for permission to send the body (`Expect: 100-continue`) gets that permission with the first
    /// demand. An unread body is discarded after the response if it is short; if it is long, the connection is closed.
    ///
    /// **Demand:** reads one chunk at a time from the connection; without demand, the client has to wait. **Failure:**
    /// ``BodyError``; a second subscriber gets ``BodyError/taken``. **Cancellation:** the rest is discarded.
    /// **Policy:** holds one chunk.
    public var body: Body { Body(exchange: exchange) }

    /// The trailers of a chunked body, once the body has ended.
    public var trailers: HTTPHeaders { exchange.connection.trailers(of: exchange) }

    /// Sends the response. Further responses are dropped, and so are responses to a client that has disconnected.
    public func respond(_ response: Response) { exchange.respond(response) }

    /// Responds with the first value of `publisher`, which is cancelled if the client disconnects first.
    ///
    /// A failure that is a ``Status`` or ``Problem`` becomes the response. Any other failure, or a completion without a
    /// value, becomes status 500 and is reported (``HTTPServer/onError``).
    public func respond<P: Publisher>(_ publisher: P) where P.Output == Response {
      exchange.respond(publisher.eraseFailureType().eraseToAnyPublisher())
    }
  }

  /// The reason why a request's body ended early.
  public enum BodyError: Error, Hashable, Sendable {
    /// The body has more than `limit` bytes; the client gets status 413.
    case tooLarge(limit: Int)
    /// The chunks of the body are malformed; the client gets status 400.
    case malformed
    /// The client is too slow, or has disconnected.
    case disconnected
    /// The response has already been sent.
    case answered
    /// The body already has a subscriber, or has been read.
    case taken
  }

  /// See ``Request/body``.
  public struct Body: Publisher {
    public typealias Output = Chunk
    public typealias Failure = BodyError

    let exchange: Exchange

    @_documentation(visibility: internal)
    public var _deliversAtHome: Bool { true }

    public func receive<S: Subscriber>(subscriber: S) where S.Input == Chunk, S.Failure == BodyError {
      exchange.connection.read(exchange, into: AnySubscriber(subscriber))
    }

    /// The whole body in one chunk.
    ///
    /// **Demand:** reads the body when a value is requested. **Failure, cancellation:** as for the body. **Policy:**
    /// holds the body, which is limited to ``Limits/bodyBytes``.
    public func whole() -> AnyPublisher<Chunk, BodyError> {
      collect().map { Chunk(joining: $0) }.eraseToAnyPublisher()
    }
  }
}

/// A request and its state. It retains its connection, and reports an error if it is released without a response.
final class Exchange {
  let head: RequestHead
  let connection: ServerConnection
  /// The number of this request on the connection.
  let number: Int
  @exclusivity(unchecked) private var isAnswered = false
  /// See ``HTTPServer/Request/id``.
  @exclusivity(unchecked) var id: String?
  /// See ``HTTPServer/Request/route``.
  @exclusivity(unchecked) var route: String?

  init(_ head: RequestHead, _ connection: ServerConnection, _ number: Int) {
    self.head = head
    self.connection = connection
    self.number = number
  }

  deinit {
    guard !isAnswered, connection.isCurrent(number) else { return }
    connection.report(HTTPServer.ResponseError.missing, of: head)
    connection.respond(HTTPServer.Response(.internalServerError), to: head, number, id: id)
  }

  func report(_ error: any Error) { if !isAnswered { connection.report(error, of: head) } }

  /// Responds with the status or the problem that was thrown, or with 500.
  func fail(_ error: any Error) {
    if let status = error as? HTTPServer.Status { return respond(HTTPServer.Response(status)) }
    if let problem = error as? HTTPServer.Problem { return respond(problem.response) }
    guard !isAnswered else { return }
    connection.report(error, of: head)
    respond(HTTPServer.Response(.internalServerError))
  }

  func respond(_ response: HTTPServer.Response) {
    guard !isAnswered else { return }
    isAnswered = true
    connection.respond(response, to: head, number, id: id)
  }

  func respond(_ publisher: AnyPublisher<HTTPServer.Response, any Error>) {
    guard !isAnswered, connection.isCurrent(number) else { return }
    var isOver = false
    let waiting = publisher.first().sink { [self] completion in
      isOver = true
      switch completion {
      // A value, if any, came earlier and is the response; without one, this fails.
      case .finished: fail(HTTPServer.ResponseError.missing)
      case .failure(let error): fail(error)
      }
    } receiveValue: { [self] in
      isOver = true
      respond($0)
    }
    if !isOver { connection.keep(waiting, number) }
  }
}
