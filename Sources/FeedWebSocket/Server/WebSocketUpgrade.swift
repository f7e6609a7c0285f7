public import FeedHTTPServer
public import FeedStream

/// A server's requirements for a client that opens a socket, and its offers to that client.
public struct WebSocketUpgrade: Sendable {
  /// The pages that may open sockets. Browsers send a page's origin in the `Origin` field; other programs usually omit
  /// the field, and may send a false origin.
  public enum Origins: Hashable, Sendable {
    /// Pages from the same host and port as the request's `Host`, and clients that send no `Origin`.
    case sameHost
    /// Pages from these origins, such as `https://example.org`, and clients that send no `Origin`.
    case these(Set<String>)
    /// All pages: use this only if the socket does nothing that depends on a cookie.
    case any
  }

  public var limits = WebSocketLimits()
  /// The compression of messages, if the client offers it; `nil` for no compression.
  public var compression: WebSocketCompression? = WebSocketCompression()
  /// The supported subprotocols, most preferred first. A client that offers none of them gets a socket without a
  /// subprotocol.
  public var subprotocols: [String] = []
  /// The pages that may open sockets: by default, those from the same host. Others get 403.
  public var origins = Origins.sameHost
  /// The accepted values of `Host`, such as `example.org` or `example.org:8080`, in upper or lower case; `nil` for all.
  /// Others get 421.
  public var hosts: Set<String>?
  /// Additional fields of the response with status 101, such as a cookie.
  public var headers: HTTPHeaders = [:]

  public init() {}

  /// Checks a request.
  ///
  /// - Returns: the agreed parameters and the response's fields, or the response that refuses the request.
  func check(_ request: HandshakeRequest) -> Result<(Agreement, HTTPHeaders), HandshakeRefusal> {
    guard request.isGet, request.isCurrentVersion else {
      return refuse(.badRequest, "open a WebSocket with GET over HTTP/1.1")
    }
    guard
      TokenList.parse(request.headers.values(of: "Upgrade"))?.contains(where: { HTTPSyntax.isSame($0, "websocket") })
        == true,
      TokenList.parse(request.headers.values(of: "Connection"))?.contains(where: { HTTPSyntax.isSame($0, "upgrade") })
        == true
    else {
      return refuse(.init(426), "this is a WebSocket endpoint: use ws:// or wss://", ["Upgrade": "websocket"])
    }
    guard request.headers.values(of: "Sec-WebSocket-Version") == ["13"] else {
      return refuse(.init(426), "use WebSocket version 13", ["Upgrade": "websocket", "Sec-WebSocket-Version": "13"])
    }
    let keys = request.headers.values(of: "Sec-WebSocket-Key")
    guard keys.count == 1, AcceptKey.isKey(keys[0]) else {
      return refuse(.badRequest, "the key is not 16 bytes in base64")
    }
    guard let host = request.host, hosts?.contains(where: { HTTPSyntax.isSame($0, host) }) ?? true else {
      return refuse(.misdirectedRequest, "this server doesn't serve this host")
    }
    let origin = request.headers.values(of: "Origin")
    guard origin.count < 2, origin.first.map({ accepts($0, host) }) ?? true else {
      return refuse(.forbidden, "pages from this origin may not open a socket here")
    }
    guard let offered = TokenList.parse(request.headers.values(of: "Sec-WebSocket-Protocol")) else {
      return refuse(.badRequest, "the list of subprotocols is malformed")
    }
    var (agreement, fields) = (Agreement(), headers)
    fields.add("Sec-WebSocket-Accept", AcceptKey.answer(to: keys[0]))
    if let chosen = subprotocols.first(where: offered.contains) {
      agreement.subprotocol = chosen
      fields.add("Sec-WebSocket-Protocol", chosen)
    }
    do throws(FieldSyntaxError) {
      if let answer = try (compression ?? WebSocketCompression()).answer(
        request.headers.values(of: "Sec-WebSocket-Extensions")),
        compression != nil
      {
        agreement.deflate = answer.terms
        fields.add("Sec-WebSocket-Extensions", answer.field)
      }
    } catch {
      return refuse(.badRequest, "the list of extensions is malformed")
    }
    return .success((agreement, fields))
  }

  private func accepts(_ origin: String, _ host: String) -> Bool {
    switch origins {
    case .any: true
    case .these(let origins): origins.contains { HTTPSyntax.isSame($0, origin) }
    case .sameHost:
      // Browsers omit the scheme's default port, in both fields.
      ["http://", "https://"].contains { HTTPSyntax.isSame(origin, $0 + host) }
    }
  }

  private func refuse(
    _ status: HTTPStatus, _ reason: String, _ headers: HTTPHeaders = [:]
  ) -> Result<(Agreement, HTTPHeaders), HandshakeRefusal> {
    .failure(HandshakeRefusal(status: status, reason: reason, headers: headers))
  }
}

/// The parts of a request that determine the handshake. They are separate so that the handshake can be fuzzed without a
/// server.
struct HandshakeRequest {
  var isGet: Bool
  /// True for HTTP/1.1.
  var isCurrentVersion: Bool
  var host: String?
  var headers: HTTPHeaders
}

struct HandshakeRefusal: Error {
  let status: HTTPStatus
  let reason: String
  let headers: HTTPHeaders

  func response(asProblem: Bool) -> ServerResponse {
    if asProblem {
      var problem = ProblemDetails(status, detail: reason)
      problem.headers = headers
      return problem.response
    }
    var headers = headers
    headers.add("Content-Type", "text/plain; charset=utf-8")
    return ServerResponse(status, headers: headers, body: Chunk("\(status): \(reason)\n"))
  }
}

extension ServerRequest {
  /// The response that opens a socket for this request, or that refuses it and gives the reason.
  ///
  ///     routes.get("/echo") { request in
  ///       request.upgradeToWebSocket { socket in socket.messages.write(to: socket) }
  ///     }
  ///
  /// A request that isn't a handshake is refused with 400 or 426. A request from a page with a different origin is
  /// refused with 403, and a request for a different host with 421. If the routes use problem details
  /// (`HTTPRoutes.usesProblems`), so does the refusal. When the server shuts down, it closes the socket with 1001.
  ///
  /// - Parameters:
  ///   - options: the requirements for the client, and the offers to it.
  ///   - body: receives the socket once the response is written. The returned publisher is subscribed to, and cancelled
  ///     when the socket is closed, even if messages wait for its demand. If it fails with anything other than a failure
  ///     of this socket, the socket is closed with 1011, and the error is reported to `StreamDiagnostics`.
  public func upgradeToWebSocket<P: Publisher>(
    _ options: WebSocketUpgrade = WebSocketUpgrade(), _ body: @escaping (WebSocket) -> P
  ) -> ServerResponse {
    upgradeToWebSocket(options) { (socket: WebSocket) -> AnyCancellable in
      // Unowned: the socket retains this subscription, and cancels it when it is closed.
      body(socket).sink { [unowned socket] completion in
        guard case .failure(let error) = completion, !socket.hasFailed(with: error) else { return }
        StreamDiagnostics.caught(error, "WebSocket: a socket of \(socket.peer)")
        socket.close(.internalError)
      } receiveValue: { _ in
      }
    }
  }

  /// The response that opens a socket for this request, or that refuses it and gives the reason.
  ///
  /// - Parameters:
  ///   - options: the requirements for the client, and the offers to it.
  ///   - body: receives the socket once the response is written. The cancellable that it returns is retained, and
  ///     cancelled when the socket is closed.
  public func upgradeToWebSocket(
    _ options: WebSocketUpgrade = WebSocketUpgrade(), _ body: @escaping (WebSocket) -> AnyCancellable
  ) -> ServerResponse {
    let handshake = HandshakeRequest(
      isGet: method == .get, isCurrentVersion: version == "1.1", host: host, headers: headers)
    switch options.check(handshake) {
    case .failure(let refusal): return refusal.response(asProblem: usesProblems)
    case .success((let agreement, let fields)):
      return .upgrade(to: "websocket", headers: fields) { upgraded in
        let socket = WebSocket(
          upgraded.connection, isServer: true, agreement, limits: options.limits, compression: options.compression,
          upgraded: upgraded, on: upgraded.scheduler)
        // These closures retain the socket until one of them is called, or until the socket closes the connection
        // itself.
        upgraded.onShutdown = { socket.close(.goingAway) }
        upgraded.onClose = { socket.drop(.failure(.connectionLost(nil))) }
        let kept = body(socket)
        if socket.state == .closed { kept.cancel() } else { socket.kept = kept }
        socket.start(upgraded.early)
      }
    }
  }
}
