internal import FeedStream

// Finding the route of a request, and the reply to it.
extension HTTPRoutes {
  /// The routes and their middleware as one function, composed once. Errors become responses inside all middleware,
  /// so that logs and metrics see the response that is sent.
  func handler() -> (ServerRequest) -> HTTPReply {
    var composed = self
    // Each group's middleware is composed once, because it may keep state for all of the group's routes.
    var steps: [ObjectIdentifier: HTTPHandler] = [:]
    composed.routes = routes.map { route in
      guard !route.groups.isEmpty else { return route }
      let copy = Route(route.method, route.path, isFolder: route.isFolder, route.handler, in: route.groups)
      copy.bodyBytes = route.bodyBytes
      for (depth, group) in route.groups.enumerated() {
        let step =
          steps[ObjectIdentifier(group)]
          ?? wrapped({ settled($0, $0.exchange.steps[depth + 1]) }, group.around)
        steps[ObjectIdentifier(group)] = step
        copy.steps.append(step)
      }
      copy.steps.append(route.handler)
      return copy
    }
    // Created once: creating a closure per request would retain and release everything that these routes hold.
    let routed: HTTPHandler = { [composed] in try composed.route($0) }
    guard !outermost.isEmpty else { return { settled($0, routed) } }
    let inner: HTTPHandler = { settled($0, routed) }
    let whole = wrapped(inner, outermost)
    return { settled($0, whole) }
  }

  /// Wraps a handler in middleware, outermost first. An error that one throws becomes a response within the others.
  private func wrapped(_ handler: @escaping HTTPHandler, _ around: [HTTPMiddleware]) -> HTTPHandler {
    // `reduce` would add a wrapper around each function for its generic parameter.
    var whole = handler
    for middleware in around.reversed() {
      let inner = middleware.wrap(whole)
      whole = { request in
        do { return try inner(request) } catch { return .now(response(for: error, to: request)) }
      }
    }
    return whole
  }

  /// A handler's reply, with its errors mapped.
  private func settled(_ request: ServerRequest, _ handler: HTTPHandler) -> HTTPReply {
    request.exchange.usesProblems = usesProblems
    do {
      let reply = try handler(request)
      guard case .later(let publisher) = reply else { return reply }
      return .later(
        publisher.switchIfEmpty(Fail(error: ServerResponseError.missing as any Error)).catch {
          Just(response(for: $0, to: request)).setFailureType(to: (any Error).self)
        }
        .eraseToAnyPublisher())
    } catch {
      return .now(response(for: error, to: request))
    }
  }

  private func response(for error: any Error, to request: ServerRequest) -> ServerResponse {
    switch errors(error) {
    case let problem as ProblemDetails: return problem.response
    case let status as HTTPStatus: return usesProblems ? ProblemDetails(status).response : ServerResponse(status)
    case RequestBodyError.tooLarge: return self.response(for: HTTPStatus.contentTooLarge, to: request)
    case RequestBodyError.malformed: return self.response(for: HTTPStatus.badRequest, to: request)
    case RequestBodyError.tooSlow: return self.response(for: HTTPStatus.requestTimeout, to: request)
    case let other:
      request.exchange.report(other)
      return usesProblems ? ProblemDetails(.internalServerError).response : ServerResponse(.internalServerError)
    }
  }

  private func route(_ request: ServerRequest) throws -> HTTPReply {
    // Most requests are for a path without placeholders.
    for route in routes {
      guard let literal = route.literal else { break }
      if route.serves(request.method), request.hasPath(literal) { return try route.serve(request) }
    }
    let isStar = request.targetForm == .asterisk
    let parts = isStar ? [] : Self.parts(request.path)
    var methods: [HTTPMethod] = []
    // A browser's preflight is for the route that will serve the method that it names.
    let wanted = request.method == .options ? request.headers["Access-Control-Request-Method"] : nil
    var preflight: (route: Route, parameters: [String: String])?
    var first: (route: Route, parameters: [String: String])?
    for route in routes {
      guard let parameters = isStar ? [:] : Self.match(route.parts, route.isFolder, parts) else { continue }
      if !isStar, first == nil { first = (route, parameters) }
      if !isStar, preflight == nil, let wanted, route.serves(HTTPMethod(rawValue: wanted)) {
        preflight = (route, parameters)
      }
      if !isStar, route.serves(request.method) {
        var request = request
        request.parameters = parameters
        return try route.serve(request)
      }
      for method in route.method == .get ? [.get, .head] : [route.method] where !methods.contains(method) {
        methods.append(method)
      }
    }
    if !request.method.isStandard, !routes.contains(where: { $0.method == request.method }) {
      throw HTTPStatus.notImplemented
    }
    guard !methods.isEmpty else { throw HTTPStatus.notFound }
    if !methods.contains(.options) { methods.append(.options) }
    let names = methods.map(\.rawValue).joined(separator: ", ")
    let allow: HTTPHandler = { request in
      let isAsked = request.method == .options
      var allowed = isAsked ? ServerResponse(.noContent) : response(for: HTTPStatus.methodNotAllowed, to: request)
      allowed.headers["Allow"] = names
      return .now(allowed)
    }
    guard let (route, parameters) = preflight ?? first else { return try allow(request) }
    guard route.steps.count > 1 else { return try allow(request) }
    var request = request
    request.parameters = parameters
    request.exchange.steps = route.steps.dropLast() + [allow]
    return try route.steps[0](request)
  }

  /// The maximum number of bytes in a request's body, if its route has its own limit.
  func bodyBytes(_ method: HTTPMethod, _ path: String) -> Int? {
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
