public import FeedStream

/// Maps paths to handlers.
///
///     var routes = HTTPRoutes()
///     routes.get("/") { _ in .html(page) }
///     routes.get("/feeds/:name") { request in .text(request.parameters["name"]!) }
///     routes.post("/feeds") { request in request.body.whole().map { .text($0.text) } }
///     routes.files("/assets", in: "public")
///     let serving = server.serve(routes)
///
/// A part of a path that begins with a colon is a placeholder: it matches any part, which is then available in
/// ``ServerRequest/parameters``, unescaped. The first matching route is used. A GET route serves HEAD, too. A path
/// without a route gets 404, a known method without a route gets 405, an unknown method gets 501, and OPTIONS gets the
/// list of supported methods.
///
/// ``use(_:)`` adds middleware for all paths, and ``group(_:_:_:)`` adds middleware for some. Errors that handlers
/// throw are mapped to responses in one place (``errors``, ``usesProblems``).
public struct HTTPRoutes {
  final class Route {
    let method: HTTPMethod
    /// The path, with placeholders.
    let path: String
    let parts: [Substring]
    /// The path as bytes, if it has no placeholders.
    let literal: [UInt8]?
    /// True if the route is for everything below the path.
    let isFolder: Bool
    let handler: HTTPHandler
    /// The groups that contain the route, outermost first.
    let groups: [Group]
    /// The middleware of each group, then the handler; empty until the routes are composed.
    var steps: [HTTPHandler] = []
    /// The maximum number of body bytes, if it differs from the server's.
    var bodyBytes: Int?

    init(
      _ method: HTTPMethod, _ path: String, isFolder: Bool, _ handler: @escaping HTTPHandler, in groups: [Group]
    ) {
      (self.method, self.path, self.isFolder, self.handler) = (method, path, isFolder, handler)
      self.groups = groups
      parts = HTTPRoutes.parts(path)
      literal = isFolder || parts.contains { $0.hasPrefix(":") } ? nil : Array(path.utf8)
    }

    /// True if the route is for requests with `method`: one for GET is also for HEAD.
    func serves(_ method: HTTPMethod) -> Bool { self.method == method || method == .head && self.method == .get }

    func serve(_ request: ServerRequest) throws -> HTTPReply {
      request.exchange.route = path
      guard !steps.isEmpty else { return try handler(request) }
      request.exchange.steps = steps
      return try steps[0](request)
    }
  }

  /// The middleware of one group, outermost first.
  final class Group {
    let around: [HTTPMiddleware]

    init(_ around: [HTTPMiddleware]) { self.around = around }
  }

  var routes: [Route] = []
  /// The prefix of the paths of this group's routes.
  private var prefix = ""
  /// This group and the groups around it, outermost first.
  private var groups: [Group] = []
  /// The middleware around all routes, outermost first.
  private(set) var outermost: [HTTPMiddleware] = []

  /// Maps a handler's error to the error to respond with. An `HTTPStatus` or a ``ProblemDetails`` becomes the
  /// response. A body that is too large, malformed or too slow gets 413, 400 or 408. Any other error becomes status 500
  /// and is reported (``HTTPServer/onError``). By default, returns errors unchanged.
  ///
  ///     var routes = HTTPRoutes()
  ///     routes.errors = { $0 is NotFound ? HTTPStatus.notFound : $0 }
  public var errors: (any Error) -> any Error = { $0 }
  /// True to respond to every error, even for a missing route or a refused WebSocket handshake, with problem details
  /// (RFC 9457) instead of a line of text. False by default. Responses that a handler returns are unchanged. Requests
  /// that reach no route, because they are malformed or exceed ``HTTPServerLimits``, always get a line of text. A failed
  /// condition (412) and an unsatisfiable range (416) have no body.
  public var usesProblems = false

  public init() {}

  // MARK: Middleware and groups

  /// Adds middleware around all routes, and around the responses for missing routes. The first one added is
  /// outermost.
  public mutating func use(_ middleware: HTTPMiddleware) { outermost.append(middleware) }

  /// Adds routes whose paths begin with `path`, with their own middleware. An empty path in the group stands for `path`
  /// itself.
  ///
  /// The group's middleware sees the errors of its handlers as responses. It also sees requests for the group's paths
  /// with other methods, such as a browser's preflight (OPTIONS), but no requests for paths without a route.
  ///
  ///     var routes = HTTPRoutes()
  ///     routes.group("/api", [.bearer(isValid)]) { api in
  ///       api.get("/feeds") { _ in .text("none") }
  ///     }
  public mutating func group(_ path: String, _ around: [HTTPMiddleware] = [], _ add: (inout HTTPRoutes) -> Void) {
    precondition(
      path.hasPrefix("/") && !path.hasSuffix("/"),
      "HTTPRoutes.group: \(path) must begin with a slash and not end with one; use a path such as /path")
    var group = HTTPRoutes()
    group.prefix = prefix + path
    group.groups = groups + [Group(around)]
    add(&group)
    precondition(
      group.outermost.isEmpty,
      "HTTPRoutes.group: use(_:) is for all routes; pass the group's middleware to group(_:_:_:)"
    )
    routes += group.routes
  }

  // MARK: Adding

  /// Responds to requests with the result of `handler`.
  public mutating func handle(_ method: HTTPMethod, _ path: String, _ handler: @escaping HTTPHandler) {
    add(method, path, handler)
  }

  /// Responds to requests with the result of `handler`. If `handler` throws an `HTTPStatus` or a ``ProblemDetails``,
  /// that becomes the response; any other error becomes status 500 and is reported to ``HTTPServer/onError``.
  public mutating func on(
    _ method: HTTPMethod, _ path: String, _ handler: @escaping (ServerRequest) throws -> ServerResponse
  ) {
    add(method, path) { .now(try handler($0)) }
  }

  /// Responds to requests with the first value of the publisher that `handler` returns.
  public mutating func on<P: Publisher>(_ method: HTTPMethod, _ path: String, _ handler: @escaping (ServerRequest) -> P)
  where P.Output == ServerResponse {
    add(method, path) { .first(of: handler($0)) }
  }

  /// Responds to requests with the result of `handler`, in a separate task that gets the request with its whole body.
  ///
  /// The task is cancelled when the connection breaks. A client that closes only its sending side may still be
  /// waiting for the response, so the task continues in that case.
  public mutating func onAsync(
    _ method: HTTPMethod, _ path: String,
    _ handler: @escaping @Sendable (WholeRequest) async throws -> sending ServerResponse
  ) {
    add(method, path) { request in
      .first(
        of: request.whole().flatMap { whole in
          Deferred { Future<ServerResponse, any Error> { try await handler(whole) } }
        })
    }
  }

  /// Limits the bodies of a route's requests to `bytes`, instead of ``HTTPServerLimits/bodyBytes``.
  public mutating func limitBody(_ method: HTTPMethod, _ path: String, to bytes: Int) {
    let parts = Self.parts(prefix + path)
    let meant = routes.filter { $0.method == method && $0.parts == parts }
    precondition(!meant.isEmpty, "HTTPRoutes.limitBody: \(method) \(path) has no route; add it first")
    for route in meant { route.bodyBytes = bytes }
  }

  public mutating func get(_ path: String, _ handler: @escaping (ServerRequest) throws -> ServerResponse) {
    on(.get, path, handler)
  }
  public mutating func get<P: Publisher>(_ path: String, _ handler: @escaping (ServerRequest) -> P)
  where P.Output == ServerResponse {
    on(.get, path, handler)
  }
  public mutating func post(_ path: String, _ handler: @escaping (ServerRequest) throws -> ServerResponse) {
    on(.post, path, handler)
  }
  public mutating func post<P: Publisher>(_ path: String, _ handler: @escaping (ServerRequest) -> P)
  where P.Output == ServerResponse {
    on(.post, path, handler)
  }
  public mutating func put(_ path: String, _ handler: @escaping (ServerRequest) throws -> ServerResponse) {
    on(.put, path, handler)
  }
  public mutating func put<P: Publisher>(_ path: String, _ handler: @escaping (ServerRequest) -> P)
  where P.Output == ServerResponse {
    on(.put, path, handler)
  }
  public mutating func patch(_ path: String, _ handler: @escaping (ServerRequest) throws -> ServerResponse) {
    on(.patch, path, handler)
  }
  public mutating func patch<P: Publisher>(_ path: String, _ handler: @escaping (ServerRequest) -> P)
  where P.Output == ServerResponse {
    on(.patch, path, handler)
  }
  public mutating func delete(_ path: String, _ handler: @escaping (ServerRequest) throws -> ServerResponse) {
    on(.delete, path, handler)
  }
  public mutating func delete<P: Publisher>(_ path: String, _ handler: @escaping (ServerRequest) -> P)
  where P.Output == ServerResponse {
    on(.delete, path, handler)
  }

  /// Responds with the files in `folder`, and with `index.html` for a folder. See ``StaticFiles``.
  public mutating func files(_ path: String, in folder: String) { files(path, StaticFiles(folder)) }

  /// Responds with the files that `files` serves.
  public mutating func files(_ path: String, _ files: StaticFiles) {
    let path = path.hasSuffix("/") && prefix + path != "/" ? String(path.dropLast()) : path
    let depth = Self.parts(prefix + path).count
    add(.get, path, isFolder: true) { request in
      // Skips as many parts as the route has.
      let whole = request.path
      var rest = whole[...]
      for _ in 0..<depth { rest = rest.dropFirst().drop { $0 != "/" } }
      return .first(of: files.response(to: rest, of: whole, query: request.query, on: request.scheduler))
    }
  }

  private mutating func add(
    _ method: HTTPMethod, _ path: String, isFolder: Bool = false, _ handler: @escaping HTTPHandler
  ) {
    precondition(
      path.hasPrefix("/") || path.isEmpty && !prefix.isEmpty,
      "HTTPRoutes: the path \(path) does not begin with a slash; add one")
    routes.append(Route(method, prefix + path, isFolder: isFolder, handler, in: groups))
  }

  static func parts(_ path: String) -> [Substring] {
    path.dropFirst().split(separator: "/", omittingEmptySubsequences: false).filter { !$0.isEmpty || path != "/" }
  }
}
