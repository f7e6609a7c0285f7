public import FeedStream
public import Foundation

/// A request with its whole body, as a value that may cross threads: see ``HTTPRoutes/onAsync(_:_:_:)``.
public struct WholeRequest: Sendable {
  public var method: HTTPMethod
  /// The path as received, without the query.
  public var path: String
  /// The query as received; `nil` if there is none.
  public var query: String?
  /// The requested host: see ``ServerRequest/host``.
  public var host: String?
  /// The values of the route's placeholders.
  public var parameters: [String: String]
  public var headers: HTTPHeaders
  /// See ``ServerRequest/notes``.
  public var notes: [String: String]
  /// See ``ServerRequest/id``.
  public var id: String?
  public var body: Chunk

  /// The unescaped value of a query parameter (`a=b&c=d`).
  public func query(_ name: String) -> String? { Percent.value(of: name, in: query) }

  /// The body as a value, decoded from JSON or an HTML form.
  ///
  /// - Throws: a ``ProblemDetails``: 415 for a different content type or a compressed body, 400 for a malformed body,
  ///   and 422 for a well-formed body that can't be decoded as `type`.
  public func decoded<Value: Decodable>(
    as type: Value.Type = Value.self, from forms: [RequestBodyForm] = [.json], decoder: JSONDecoder = JSONDecoder()
  ) throws -> Value {
    try RequestBodyForm.accepted(forms, method, headers).value(of: type, in: body, decoder)
  }
}

/// A response with its whole body, as a value that may cross threads: for servers on several loops whose handlers
/// need state that belongs to one loop.
///
/// Create it on the handler's loop. On the server's loop, which compresses and writes it, send it with
/// `request.respond(ServerResponse(whole, on: loop))`.
public struct WholeResponse: Sendable {
  enum Body: Sendable {
    case none
    case bytes(Chunk)
    case file(ServedFile, Range<Int64>)
  }

  public var status: HTTPStatus
  public var headers: HTTPHeaders
  let body: Body
  let isCompressible: Bool

  /// - Returns: `nil` for a response whose body is a stream, or that switches to a different protocol: such responses
  ///   can't leave their loop.
  public init?(_ response: ServerResponse) {
    switch response.body {
    case .none: body = .none
    case .bytes(let bytes): body = .bytes(bytes)
    case .file(let file): body = .file(file.file, file.range)
    case .stream, .endless, .upgrade: return nil
    }
    status = response.status
    headers = response.headers
    isCompressible = response.isCompressible
  }
}

extension ServerResponse {
  /// A response that was created on another thread.
  ///
  /// - Parameter scheduler: the server's scheduler.
  public init(_ whole: WholeResponse, on scheduler: any LoopScheduler) {
    let body: Body =
      switch whole.body {
      case .none: .none
      case .bytes(let bytes): .bytes(bytes)
      case .file(let file, let range): .file(FileBody(file: file, range: range, scheduler: scheduler))
      }
    self.init(whole.status, headers: whole.headers, body: body)
    isCompressible = whole.isCompressible
  }
}
