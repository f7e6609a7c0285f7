public import FeedStream

extension HTTPServer {
  /// A response: a status, header fields and a body.
  ///
  /// The server adds `Date` and the fields that delimit the body; `Connection: close` closes the connection after the
  /// response. The server omits the body for HEAD and the statuses 204 and 304. For GET and HEAD with status 200, the
  /// server evaluates the request's conditions if the response has `ETag` or `Last-Modified`. For GET, it also serves
  /// ranges of a body that consists of bytes or a file.
  public struct Response {
    enum Body {
      case none
      case bytes(Chunk)
      case stream(AnyPublisher<Chunk, any Error>, length: Int?)
      case file(FileBody)
      case events(EventLog, greeting: EventLog.Event?)
      case upgrade(String, (UpgradedConnection) -> Void)
    }

    public var status: Status
    public var headers: HTTPHeaders
    var body: Body
    /// False to send the body uncompressed, even to a client that accepts gzip.
    public var isCompressible = true

    /// A response with a status; for an error, the body is a line that states the status.
    public init(_ status: Status = .ok, headers: HTTPHeaders = [:]) {
      self.init(status, headers: headers, body: .none)
      if status.code >= 400 {
        body = .bytes(Chunk("\(status)\n"))
        if self.headers["Content-Type"] == nil { self.headers.add("Content-Type", "text/plain; charset=utf-8") }
      }
    }

    /// A response with these bytes, which are retained until the client has read them (``Limits/wholeBodyBytes``); for
    /// long bodies, use a publisher or a file.
    public init(_ status: Status = .ok, headers: HTTPHeaders = [:], body: Chunk) {
      self.init(status, headers: headers, body: .bytes(body))
    }

    /// A response whose body is written as `publisher` delivers it; a chunk is requested whenever there is room.
    ///
    /// If the publisher fails, the connection is closed, so that the client can tell that the body is incomplete.
    ///
    /// - Parameter length: the number of bytes that the publisher delivers, if known. If there are more, the rest is
    ///   not sent; if there are fewer, the connection is closed.
    public init<P: Publisher>(_ status: Status = .ok, headers: HTTPHeaders = [:], body publisher: P, length: Int? = nil)
    where P.Output == Chunk {
      precondition(length ?? 0 >= 0, "Response(length: \(length ?? 0)): use 0 or more")
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
      _ status: Status = .ok, headers: HTTPHeaders = [:], file: OpenFile, range: Range<Int64>,
      on scheduler: any LoopScheduler
    ) {
      precondition(range.lowerBound >= 0, "Response(range: \(range)): an offset cannot be negative; use 0 or more")
      self.init(status, headers: headers, body: .file(FileBody(file: file, range: range, scheduler: scheduler)))
    }

    init(_ status: Status, headers: HTTPHeaders, body: Body) {
      self.status = status
      self.headers = headers
      self.body = body
    }

    /// Plain text.
    public static func text(_ text: String, _ status: Status = .ok) -> Response {
      Response(status, headers: .plainText, body: Chunk(text))
    }

    /// An HTML page.
    public static func html(_ text: String, _ status: Status = .ok) -> Response {
      Response(status, headers: .page, body: Chunk(text))
    }

    /// A JSON document that is already encoded.
    public static func json(_ document: Chunk, _ status: Status = .ok) -> Response {
      Response(status, headers: ["Content-Type": "application/json"], body: document)
    }

    /// Redirects the client.
    public static func redirect(to address: String, _ status: Status = .seeOther) -> Response {
      Response(status, headers: ["Location": address])
    }

    /// The events in `log` from now on, or from where the client stopped (`Last-Event-ID`), until the client
    /// disconnects.
    ///
    /// - Parameter greeting: an optional event that is sent first, to this client only.
    public static func events(_ log: EventLog, greeting: EventLog.Event? = nil) -> Response {
      let headers: HTTPHeaders = ["Content-Type": "text/event-stream", "Cache-Control": "no-store"]
      return Response(.ok, headers: headers, body: .events(log, greeting: greeting))
    }
  }
}

/// Part of an open file.
struct FileBody {
  let file: HTTPServer.OpenFile
  var range: Range<Int64>
  let scheduler: any LoopScheduler
}
