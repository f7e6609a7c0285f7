public import FeedStream

/// A response: a status, header fields and a body.
///
/// The server adds `Date` and the fields that delimit the body; `Connection: close` closes the connection after the
/// response. The server omits the body for HEAD and the statuses 204 and 304. For GET and HEAD with status 200, the
/// server evaluates the request's conditions if the response has `ETag` or `Last-Modified`. For GET, it also serves
/// ranges of a body that consists of bytes or a file.
public struct ServerResponse {
  enum Body {
    case none
    case bytes(Chunk)
    case stream(AnyPublisher<Chunk, any Error>, length: Int?)
    case file(FileBody)
    case endless(any EndlessBody)
    case upgrade(String, (UpgradedConnection) -> Void)
  }

  public var status: HTTPStatus
  public var headers: HTTPHeaders
  var body: Body
  /// False to send the body uncompressed, even to a client that accepts gzip.
  public var isCompressible = true

  /// A response with a status; for an error, the body is a line that states the status.
  public init(_ status: HTTPStatus = .ok, headers: HTTPHeaders = [:]) {
    self.init(status, headers: headers, body: .none)
    if status.code >= 400 {
      body = .bytes(Chunk("\(status)\n"))
      if self.headers["Content-Type"] == nil { self.headers.add("Content-Type", "text/plain; charset=utf-8") }
    }
  }

  /// A response with these bytes, which are retained until the client has read them
  /// (``HTTPServerLimits/wholeBodyBytes``); for long bodies, use a publisher or a file.
  public init(_ status: HTTPStatus = .ok, headers: HTTPHeaders = [:], body: Chunk) {
    self.init(status, headers: headers, body: .bytes(body))
  }

  /// A response whose body is written as `publisher` delivers it; a chunk is requested whenever there is room.
  ///
  /// If the publisher fails, the connection is closed, so that the client can tell that the body is incomplete. If only
  /// the connection's end delimits the body, as in HTTP/1.0, the connection is reset. A Unix socket can't be reset, so
  /// let a proxy in front of one use HTTP/1.1.
  ///
  /// - Parameter length: the number of bytes that the publisher delivers, if known. If there are more, the rest is
  ///   not sent; if there are fewer, the connection is closed.
  public init<P: Publisher>(
    _ status: HTTPStatus = .ok, headers: HTTPHeaders = [:], body publisher: P, length: Int? = nil
  )
  where P.Output == Chunk {
    precondition(length ?? 0 >= 0, "ServerResponse(length: \(length ?? 0)): use 0 or more")
    let erased = publisher.eraseFailureType().eraseToAnyPublisher()
    self.init(status, headers: headers, body: .stream(erased, length: length))
  }

  /// A response whose body is part of an open file, read off the loop as the client reads it, 128 KiB at a time.
  ///
  /// A client that reads slowly takes up no memory beyond those 128 KiB. If the file turns out to be shorter, the
  /// connection is closed.
  ///
  /// - Parameters:
  ///   - range: the part of the file.
  ///   - scheduler: the server's scheduler.
  public init(
    _ status: HTTPStatus = .ok, headers: HTTPHeaders = [:], file: ServedFile, range: Range<Int64>,
    on scheduler: any LoopScheduler
  ) {
    precondition(range.lowerBound >= 0, "ServerResponse(range: \(range)): an offset cannot be negative; use 0 or more")
    self.init(status, headers: headers, body: .file(FileBody(file: file, range: range, scheduler: scheduler)))
  }

  init(_ status: HTTPStatus, headers: HTTPHeaders, body: Body) {
    self.status = status
    self.headers = headers
    self.body = body
  }

  /// Plain text.
  public static func text(_ text: String, _ status: HTTPStatus = .ok) -> ServerResponse {
    ServerResponse(status, headers: .plainText, body: Chunk(text))
  }

  /// An HTML page.
  public static func html(_ text: String, _ status: HTTPStatus = .ok) -> ServerResponse {
    ServerResponse(status, headers: .page, body: Chunk(text))
  }

  /// A JSON document that is already encoded.
  public static func json(_ document: Chunk, _ status: HTTPStatus = .ok) -> ServerResponse {
    ServerResponse(status, headers: ["Content-Type": "application/json"], body: document)
  }

  /// Redirects the client.
  public static func redirect(to address: String, _ status: HTTPStatus = .seeOther) -> ServerResponse {
    ServerResponse(status, headers: ["Location": address])
  }
}

/// Part of an open file.
struct FileBody {
  let file: ServedFile
  var range: Range<Int64>
  let scheduler: any LoopScheduler
}
