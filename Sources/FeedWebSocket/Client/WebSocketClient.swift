public import FeedStream
public import FeedTLS

/// Opens sockets to servers.
///
///     let chat = WebSocketClient(on: loop).webSocket("wss://example.org/chat")
///       .flatMap { $0.messages }
///       .sink { print($0) } receiveValue: { print($0) }
public struct WebSocketClient {
  /// The options that a client offers to a server, and its limits.
  public struct Options {
    public var limits = WebSocketLimits()
    /// The compression of messages, if the server supports it; `nil` to offer no compression.
    public var compression: WebSocketCompression? = WebSocketCompression(keepsContext: true)
    /// The offered subprotocols, most preferred first.
    public var subprotocols: [String] = []
    /// Additional fields of the request, such as `Authorization`, `Cookie` or `Origin`.
    public var headers: [(name: String, value: String)] = []
    /// The trusted roots for `wss://`; the system's by default.
    public var tls: TLSClient?
    /// The time limit for each step (the lookup, connecting, and TLS): ten seconds by default.
    public var connectDeadline: StreamInstant.Stride = .seconds(10)
    /// The time limit for the server's handshake response, once connected: ten seconds by default.
    public var handshakeDeadline: StreamInstant.Stride = .seconds(10)

    public init() {}
  }

  public var options: Options
  private let scheduler: any LoopScheduler

  /// - Parameters:
  ///   - options: the options to offer to the server, and the limits.
  ///   - scheduler: an `EventLoop`, or virtual time in a test.
  public init(_ options: Options = Options(), on scheduler: any LoopScheduler) {
    self.options = options
    self.scheduler = scheduler
  }

  /// Connects when subscribed to, delivers the socket and finishes.
  ///
  /// **Demand:** begins on subscription. The socket is held until there is demand for it, and reads only control
  /// frames until its messages are requested. **Failure:** ``WebSocketError``. **Cancellation:** abandons the attempt,
  /// and closes a socket that was not delivered.
  /// **Policy:** holds one socket.
  ///
  /// - Parameter url: `ws://host[:port]/path?query`, or `wss://` for TLS.
  public func webSocket(_ url: String) -> AnyPublisher<WebSocket, WebSocketError> {
    Deferred { [self] () -> AnyPublisher<WebSocket, WebSocketError> in
      let place: WebSocketURL
      let request: ClientHandshake.Request
      do throws(WebSocketError) {
        place = try WebSocketURL(url)
        request = try ClientHandshake.Request(place, options)
      } catch {
        return Fail(error: error).eraseToAnyPublisher()
      }
      return connect(place).flatMap { shakeHands($0, request) }.eraseToAnyPublisher()
    }
    .eraseToAnyPublisher()
  }

  /// The system's roots, read once.
  private static let systemTLS: Result<TLSClient, TLSError> = Result { () throws(TLSError) in
    try TLSClient(protocols: ["http/1.1"])
  }

  /// The given client, or the one for the system's roots.
  var tls: TLSClient {
    get throws(TLSError) { if let given = options.tls { given } else { try Self.systemTLS.get() } }
  }

  private func connect(_ place: WebSocketURL) -> AnyPublisher<Connection, WebSocketError> {
    let limit = options.connectDeadline
    guard place.isSecure else {
      return Connection.connect(to: place.place, lookUpLimit: limit, connectLimit: limit, on: scheduler)
        .mapError { WebSocketError.unreachable($0) }.eraseToAnyPublisher()
    }
    let tls: TLSClient
    do throws(TLSError) {
      tls = try self.tls
    } catch {
      return Fail(error: .notSecure(error)).eraseToAnyPublisher()
    }
    return Connection.connect(
      to: place.place, securedBy: tls, lookUpLimit: limit, connectLimit: limit, handshakeLimit: limit, on: scheduler
    )
    .mapError { if case .system(let error) = $0 { .unreachable(error) } else { .notSecure($0) } }
    .eraseToAnyPublisher()
  }

  private func shakeHands(
    _ connection: Connection, _ request: ClientHandshake.Request
  ) -> AnyPublisher<WebSocket, WebSocketError> {
    Deferred { [options, scheduler] in
      let handshake = ClientHandshake(connection, request, options, on: scheduler)
      return Future<WebSocket, WebSocketError> { promise in handshake.start { promise($0) } }
        .handleEvents(receiveCancel: { handshake.cancel() })
    }
    .eraseToAnyPublisher()
  }
}
