public import FeedStream

extension HTTPServer {
  /// The handlers of paths.
  ///
  ///     var routes = HTTPServer.Routes()
  ///     routes.get("/") { _ in .html(page) }
  ///     routes.get("/feeds/:name") { request in .text(request.parameters["name"]!) }
  ///     routes.post("/feeds") { request in request.body.whole().map { .text($0.text) } }
  ///     routes.files("/assets", in: "public")
  ///     let serving = server.serve(routes)
  ///
  /// A part of a path that begins with a colon stands for any part, which is in ``Request/parameters``, its escapes
  /// resolved. The route that was added first counts. GET answers HEAD as well. A path without a route is answered with
  /// 404, a method without one with 405, one that neither HTTP nor a route knows with 501, and OPTIONS with the methods that
  /// there are.
  public struct Routes {
    private final class Route {
      let method: Method
      let parts: [Substring]
      /// The path, where nothing in it stands for something else.
      let literal: [UInt8]?
      /// True for everything below the path.
      let isFolder: Bool
      let answer: (Request, any LoopScheduler) -> Void

      init(
        _ method: Method, _ parts: [Substring], _ literal: [UInt8]?, isFolder: Bool,
        _ answer: @escaping (Request, any LoopScheduler) -> Void
      ) {
        (self.method, self.parts, self.literal) = (method, parts, literal)
        (self.isFolder, self.answer) = (isFolder, answer)
      }
    }

    private var routes: [Route] = []

    public init() {}

    /// Answers requests with the result of `answer`; an error that it throws is the response if it is a ``Status``,
    /// and 500 otherwise; then ``HTTPServer/onError`` hears of it.
    public mutating func on(_ method: Method, _ path: String, _ answer: @escaping (Request) throws -> Response) {
      add(method, path) { request, _ in
        do {
          request.respond(try answer(request))
        } catch {
          request.exchange.fail(error)
        }
      }
    }

    /// Answers requests with the first value of the publisher that `answer` returns.
    public mutating func on<P: Publisher>(_ method: Method, _ path: String, _ answer: @escaping (Request) -> P)
    where P.Output == Response {
      add(method, path) { request, _ in request.respond(answer(request)) }
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

    /// Answers with the files of `folder`, and `index.html` for a folder. See ``StaticFiles``.
    public mutating func files(_ path: String, in folder: String) { files(path, StaticFiles(folder)) }

    /// Answers with these files.
    public mutating func files(_ path: String, _ files: StaticFiles) {
      let depth = Self.parts(path).count
      add(.get, path, isFolder: true) { request, scheduler in
        // Behind as many slashes as the route has.
        var rest = request.path[...]
        for _ in 0..<depth { rest = rest.dropFirst().drop { $0 != "/" } }
        request.respond(files.answer(rest, query: request.query, on: scheduler))
      }
    }

    private mutating func add(
      _ method: Method, _ path: String, isFolder: Bool = false,
      _ answer: @escaping (Request, any LoopScheduler) -> Void
    ) {
      precondition(path.hasPrefix("/"), "Routes: the path \(path) does not begin with a slash; let it")
      let parts = Self.parts(path)
      let isLiteral = !isFolder && !parts.contains { $0.hasPrefix(":") }
      routes.append(Route(method, parts, isLiteral ? Array(path.utf8) : nil, isFolder: isFolder, answer))
    }

    private static func parts(_ path: String) -> [Substring] {
      path.dropFirst().split(separator: "/", omittingEmptySubsequences: false).filter { !$0.isEmpty || path != "/" }
    }

    /// Answers a request as its route does.
    public func answer(_ request: Request, on scheduler: any LoopScheduler) {
      // Most requests are for a path that is a route as it stands.
      for route in routes {
        guard let literal = route.literal else { break }
        let isMethod = route.method == request.method || request.method == .head && route.method == .get
        if isMethod, request.hasPath(literal) { return route.answer(request, scheduler) }
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
          return route.answer(request, scheduler)
        }
        for method in route.method == .get ? [.get, .head] : [route.method] where !methods.contains(method) {
          methods.append(method)
        }
      }
      if !request.method.isStandard, !routes.contains(where: { $0.method == request.method }) {
        return request.respond(Response(.notImplemented))
      }
      guard !methods.isEmpty else { return request.respond(Response(.notFound)) }
      let allowed = (methods + [.options]).map(\.rawValue).joined(separator: ", ")
      let status: Status = request.method == .options ? .noContent : .methodNotAllowed
      var response = Response(status)
      response.headers.add("Allow", allowed)
      request.respond(response)
    }

    private static func match(_ route: [Substring], _ isFolder: Bool, _ path: [Substring]) -> [String: String]? {
      guard isFolder ? path.count >= route.count : path.count == route.count else { return nil }
      var parameters: [String: String] = [:]
      for (expected, part) in zip(route, path) {
        if expected.hasPrefix(":") {
          guard !part.isEmpty, let value = Percent.decoded(part) else { return nil }
          parameters[String(expected.dropFirst())] = value
        } else if expected != part {
          // What need not be escaped may be all the same (RFC 3986, 6.2.2.2).
          guard let text = Percent.decoded(part), text == expected else { return nil }
        }
      }
      return parameters
    }
  }
}
