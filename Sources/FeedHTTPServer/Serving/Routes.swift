public import FeedStream

extension HTTPServer {
  /// Maps paths to handlers.
  ///
  ///     var routes = HTTPServer.Routes()
  ///     routes.get("/") { _ in .html(page) }
  ///     routes.get("/feeds/:name") { request in .text(request.parameters["name"]!) }
  ///     routes.post("/feeds") { request in request.body.whole().map { .text($0.text) } }
  ///     routes.files("/assets", in: "public")
  ///     let serving = server.serve(routes)
  ///
  /// A part of a path that begins with a colon is a placeholder: it matches any part, which is then available in
  /// ``Request/parameters``, unescaped. The first matching route is used. A GET route serves HEAD, too. A path without
  /// a route gets 404, a known method without a route gets 405, an unknown method gets 501, and OPTIONS gets the list
  /// of supported methods.
  ///
  /// ``use(_:)`` adds middleware for all paths, and ``group(_:_:_:)`` adds middleware for some. Errors that handlers
  /// throw are mapped to responses in one place (``errors``, ``usesProblems``).
  public struct Routes {
    private final class Route {
      let method: Method
      /// The path, with placeholders.
      let path: String
      let parts: [Substring]
      /// The path as bytes, if it has no placeholders.
      let literal: [UInt8]?
      /// True if the route is for everything below the path.
      let isFolder: Bool
      let handler: Handler
      /// The maximum number of body bytes, if it differs from the server's.
      var bodyBytes: Int?

      init(_ method: Method, _ path: String, isFolder: Bool, _ handler: @escaping Handler) {
        (self.method, self.path, self.isFolder, self.handler) = (method, path, isFolder, handler)
        parts = Routes.parts(path)
        literal = isFolder || parts.contains { $0.hasPrefix(":") } ? nil : Array(path.utf8)
      }

      func serve(_ request: Request) throws -> Reply {
        request.exchange.route = path
        return try handler(request)
      }
    }

    private var routes: [Route] = []
    /// The prefix of the paths of this group's routes.
    private var prefix = ""
    /// The middleware around this group's routes, outermost first.
    private var around: [Middleware] = []
    /// The middleware around all routes, outermost first.
    private var outermost: [Middleware] = []

    /// Maps a handler's error to the error to respond with. A ``Status`` or a ``Problem`` becomes the response. A body
    /// that is too large or malformed gets 413 or 400. Any other error becomes status 500 and is reported
    /// (``HTTPServer/onError``). By default, returns errors unchanged.
    ///
    ///     var routes = HTTPServer.Routes()
    ///     routes.errors = { $0 is NotFound ? HTTPServer.Status.notFound : $0 }
    public var errors: (any Error) -> any Error = { $0 }
    /// True to respond to every error, even for a missing route, with problem details (RFC 9457) instead of a line of
    /// text. False by default. Requests that reach no route, because they are malformed or exceed ``Limits``, always
    /// get a line of text.
    public var usesProblems = false

    public init() {}

    // MARK: Middleware and groups

    /// Adds middleware around all routes, and around the responses for missing routes. The first one added is
    /// outermost.
    public mutating func use(_ middleware: Middleware) { outermost.append(middleware) }

    /// Adds routes whose paths begin with `path`, with their own middleware.
    ///
    ///     var routes = HTTPServer.Routes()
    ///     routes.group("/api", [.bearer(isValid)]) { api in
    ///       api.get("/feeds") { _ in .text("none") }
    ///     }
    public mutating func group(_ path: String, _ around: [Middleware] = [], _ add: (inout Routes) -> Void) {
      precondition(
        path.hasPrefix("/") && !path.hasSuffix("/"),
        "Routes.group: \(path) must begin with a slash and not end with one; use a path such as /path")
      var group = Routes()
      group.prefix = prefix + path
      group.around = self.around + around
      add(&group)
      precondition(
        group.outermost.isEmpty, "Routes.group: use(_:) is for all routes; pass the group's middleware to group(_:_:_:)"
      )
      routes += group.routes
    }

    // MARK: Adding

    /// Responds to requests with the result of `handler`.
    public mutating func handle(_ method: Method, _ path: String, _ handler: @escaping Handler) {
      add(method, path, handler)
    }

    /// Responds to requests with the result of `answer`. If `answer` throws a ``Status`` or a ``Problem``, that becomes
    /// the response; any other error becomes status 500 and is reported to ``HTTPServer/onError``.
    public mutating func on(_ method: Method, _ path: String, _ answer: @escaping (Request) throws -> Response) {
      add(method, path) { .now(try answer($0)) }
    }

    /// Responds to requests with the first value of the publisher that `answer` returns.
    public mutating func on<P: Publisher>(_ method: Method, _ path: String, _ answer: @escaping (Request) -> P)
    where P.Output == Response {
      add(method, path) { .first(of: answer($0)) }
    }

    /// Responds to requests with the result of `answer`, in a separate task that gets the request with its whole body.
    ///
    /// The task is cancelled when the connection breaks. A client that closes only its sending side may still be
    /// waiting for the response, so the task continues in that case.
    public mutating func onAsync(
      _ method: Method, _ path: String, _ answer: @escaping @Sendable (WholeRequest) async throws -> sending Response
    ) {
      add(method, path) { request in
        .first(
          of: request.whole().flatMap { whole in
            Deferred { Future<Response, any Error> { try await answer(whole) } }
          })
      }
    }

    /// Limits the bodies of a route's requests to `bytes`, instead of ``Limits/bodyBytes``.
    public mutating func limitBody(_ method: Method, _ path: String, to bytes: Int) {
      let parts = Self.parts(prefix + path)
      let meant = routes.filter { $0.method == method && $0.parts == parts }
      precondition(!meant.isEmpty, "Routes.limitBody: \(method) \(path) has no route; add it first")
      for route in meant { route.bodyBytes = bytes }
    }

    public mutating func get(_ path: String, _ answer: @escaping (Request) throws -> Response) {
      on(.get, path, answer)
    }
    public mutating func get<P: Publisher>(_ path: String, _ answer: @escaping (Request) -> P)
    where P.Output == Response {
      on(.get, path, answer)
    }
    public mutating func post(_ path: String, _ answer: @escaping (Request) throws -> Response) {
      on(.post, path, answer)
    }
    public mutating func post<P: Publisher>(_ path: String, _ answer: @escaping (Request) -> P)
    where P.Output == Response {
      on(.post, path, answer)
    }
    public mutating func put(_ path: String, _ answer: @escaping (Request) throws -> Response) {
      on(.put, path, answer)
    }
    public mutating func put<P: Publisher>(_ path: String, _ answer: @escaping (Request) -> P)
    where P.Output == Response {
      on(.put, path, answer)
    }
    public mutating func patch(_ path: String, _ answer: @escaping (Request) throws -> Response) {
      on(.patch, path, answer)
    }
    public mutating func patch<P: Publisher>(_ path: String, _ answer: @escaping (Request) -> P)
    where P.Output == Response {
      on(.patch, path, answer)
    }
    public mutating func delete(_ path: String, _ answer: @escaping (Request) throws -> Response) {
      on(.delete, path, answer)
    }
    public mutating func delete<P: Publisher>(_ path: String, _ answer: @escaping (Request) -> P)
    where P.Output == Response {
      on(.delete, path, answer)
    }

    /// Responds with the files in `folder`, and with `index.html` for a folder. See ``StaticFiles``.
    public mutating func files(_ path: String, in folder: String) { files(path, StaticFiles(folder)) }

    /// Responds with the files that `files` serves.
    public mutating func files(_ path: String, _ files: StaticFiles) {
      let depth = Self.parts(prefix + path).count
      add(.get, path, isFolder: true) { request in
        // Skips as many parts as the route has.
        var rest = request.path[...]
        for _ in 0..<depth { rest = rest.dropFirst().drop { $0 != "/" } }
        return .first(of: files.answer(rest, query: request.query, on: request.scheduler))
      }
    }

    private mutating func add(
      _ method: Method, _ path: String, isFolder: Bool = false, _ handler: @escaping Handler
    ) {
      precondition(path.hasPrefix("/"), "Routes: the path \(path) does not begin with a slash; add one")
      routes.append(Route(method, prefix + path, isFolder: isFolder, Self.wrapped(handler, around)))
    }

    /// Wraps a handler in middleware, outermost first. `reduce` would add a wrapper around each function for its
    /// generic parameter.
    private static func wrapped(_ handler: @escaping Handler, _ around: [Middleware]) -> Handler {
      var whole = handler
      for middleware in around.reversed() { whole = middleware.wrap(whole) }
      return whole
    }

    private static func parts(_ path: String) -> [Substring] {
      path.dropFirst().split(separator: "/", omittingEmptySubsequences: false).filter { !$0.isEmpty || path != "/" }
    }

    // MARK: Responding

    /// Responds to a request using the matching route.
    public func answer(_ request: Request, on scheduler: any LoopScheduler) { request.respond(handler()(request)) }

    /// The routes and their middleware as one function, composed once. Errors become responses inside all middleware,
    /// so that logs and metrics see the response that is sent.
    func handler() -> (Request) -> Reply {
      // Created once: creating a closure per request would retain and release everything that these routes hold.
      let routed: Handler = { try self.route($0) }
      guard !outermost.isEmpty else { return { settled($0, routed) } }
      let inner: Handler = { settled($0, routed) }
      let whole = Self.wrapped(inner, outermost)
      return { settled($0, whole) }
    }

    /// A handler's reply, with its errors mapped.
    private func settled(_ request: Request, _ handler: Handler) -> Reply {
      do {
        let reply = try handler(request)
        guard case .later(let publisher) = reply else { return reply }
        return .later(
          publisher.catch { Just(response(for: $0, to: request)).setFailureType(to: (any Error).self) }
            .eraseToAnyPublisher())
      } catch {
        return .now(response(for: error, to: request))
      }
    }

    private func response(for error: any Error, to request: Request) -> Response {
      switch errors(error) {
      case let problem as Problem: return problem.response
      case let status as Status: return usesProblems ? Problem(status).response : Response(status)
      case BodyError.tooLarge: return self.response(for: Status.contentTooLarge, to: request)
      case BodyError.malformed: return self.response(for: Status.badRequest, to: request)
      case let other:
        request.exchange.report(other)
        return usesProblems ? Problem(.internalServerError).response : Response(.internalServerError)
      }
    }

    private func route(_ request: Request) throws -> Reply {
      // Most requests are for a path without placeholders.
      for route in routes {
        guard let literal = route.literal else { break }
        let isMethod = route.method == request.method || request.method == .head && route.method == .get
        if isMethod, request.hasPath(literal) { return try route.serve(request) }
      }
      let isStar = request.targetForm == .asterisk
      let parts = isStar ? [] : Self.parts(request.path)
      var methods: [Method] = []
      for route in routes {
        guard let parameters = isStar ? [:] : Self.match(route.parts, route.isFolder, parts) else { continue }
        let isHead = request.method == .head && route.method == .get
        if !isStar, route.method == request.method || isHead {
          var request = request
          request.parameters = parameters
          return try route.serve(request)
        }
        for method in route.method == .get ? [.get, .head] : [route.method] where !methods.contains(method) {
          methods.append(method)
        }
      }
      if !request.method.isStandard, !routes.contains(where: { $0.method == request.method }) {
        throw Status.notImplemented
      }
      guard !methods.isEmpty else { throw Status.notFound }
      if !methods.contains(.options) { methods.append(.options) }
      let isAsked = request.method == .options
      var answer = isAsked ? Response(.noContent) : response(for: Status.methodNotAllowed, to: request)
      answer.headers["Allow"] = methods.map(\.rawValue).joined(separator: ", ")
      return .now(answer)
    }

    /// The maximum number of bytes in a request's body, if its route has its own limit.
    func bodyBytes(_ method: Method, _ path: String) -> Int? {
      let parts = Self.parts(path)
      return routes.first { $0.method == method && Self.match($0.parts, $0.isFolder, parts) != nil }?.bodyBytes
    }

    var limitsBodies: Bool { routes.contains { $0.bodyBytes != nil } }

    private static func match(_ route: [Substring], _ isFolder: Bool, _ path: [Substring]) -> [String: String]? {
      guard isFolder ? path.count >= route.count : path.count == route.count else { return nil }
      var parameters: [String: String] = [:]
      for (expected, part) in zip(route, path) {
        if expected.hasPrefix(":") {
          guard !part.isEmpty, let value = Percent.decoded(part) else { return nil }
          parameters[String(expected.dropFirst())] = value
        } else if expected != part {
          // Characters may be escaped even where they need not be (RFC 3986, 6.2.2.2).
          guard let text = Percent.decoded(part), text == expected else { return nil }
        }
      }
      return parameters
    }
  }
}
