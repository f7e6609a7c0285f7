public import FeedStream

/// An HTTP/1.1 and HTTP/1.0 server built on streams: requests are values, and demand controls the flow.
///
///     let server = try HTTPServer(at: .internet("127.0.0.1", port: 8080), on: loop)
///     let serving = server.serve { request in
///       .text("Hello, \(request.query("name") ?? "world")!\n")
///     }
///
/// The server listens as soon as it is created. Connections are accepted while there is demand for ``requests``; the
/// requests on one connection are served in order, one at a time. Parsing follows RFC 9112 strictly: an ambiguous
/// message is refused, and its connection is closed. The resources that clients can use are limited:
/// ``HTTPServerLimits``.
///
/// Use it on its scheduler's thread; it closes when it is released. An ``HTTPServerGroup`` serves one address with
/// several loops.
public final class HTTPServer {
  /// The scheduler on which the server runs.
  public let scheduler: any LoopScheduler
  let limits: HTTPServerLimits
  let listeners: [Listener]
  private let incoming: AnyPublisher<Connection, Never>
  /// The time of day, in seconds since 1970.
  let wallClock: () -> Int64
  @exclusivity(unchecked) var heads = ResponseHeads()

  @exclusivity(unchecked) private(set) var connections = ContiguousArray<ServerConnection>()
  /// The number of connections whose deadlines this server checks; they come first in ``connections``.
  @exclusivity(unchecked) private var timed = 0
  private var ticker: (any Cancellable)?
  @exclusivity(unchecked) var subscription: RequestSource?
  /// True once the requests have had a subscriber.
  var wasServed = false
  @exclusivity(unchecked) var isEnding = false
  /// False when the server no longer accepts connections.
  var isListening = true
  /// True when the server is shutting down and closes connections that are waiting for a request.
  var closesIdle = false
  /// True when the server also closes connections that were accepted while it was shutting down and have had no
  /// request.
  var closesUnused = false
  var whenEnded: [() -> Void] = []
  var shares: ConnectionShares
  /// The maximum number of body bytes in a request for this path, if it isn't ``HTTPServerLimits/bodyBytes``.
  var bodyBytes: ((HTTPMethod, String) -> Int?)?

  /// Listens on `address`.
  ///
  /// - Parameters:
  ///   - address: an address of this machine, `0.0.0.0` or `::` for all of them, or a path for a new socket, where no
  ///     file exists yet.
  ///   - limits: the limits for clients.
  ///   - scheduler: an `EventLoop`, or virtual time in a test.
  ///   - wallClock: the time of day, in seconds since 1970; the system's by default.
  /// - Throws: when the address is invalid, in use, or not permitted.
  public convenience init(
    at address: SocketAddress, limits: HTTPServerLimits = HTTPServerLimits(), on scheduler: any LoopScheduler,
    wallClock: @escaping () -> Int64 = SystemClock.seconds
  ) throws(SystemError) {
    let listener = try Listener(at: address, on: scheduler)
    self.init(listener.connections, [listener], limits, scheduler, wallClock)
  }

  /// Listens on `address`, and serves the connections that `transform` returns in place of the accepted ones, for
  /// example to add TLS.
  ///
  /// With `FeedTLS`, pass `{ $0.secured(by: tls, on: loop) }`.
  ///
  /// - Parameters:
  ///   - address: an address of this machine, `0.0.0.0` or `::` for all of them, or a path for a new socket, where no
  ///     file exists yet.
  ///   - limits: the limits for clients.
  ///   - scheduler: an `EventLoop`, or virtual time in a test.
  ///   - wallClock: the time of day, in seconds since 1970; the system's by default.
  ///   - transform: receives the connections as they are accepted.
  /// - Throws: when the address is invalid, in use, or not permitted.
  public convenience init<P: Publisher>(
    at address: SocketAddress, limits: HTTPServerLimits = HTTPServerLimits(), on scheduler: any LoopScheduler,
    wallClock: @escaping () -> Int64 = SystemClock.seconds, transform: (Publishers.Connections) -> P
  ) throws(SystemError) where P.Output == Connection, P.Failure == Never {
    let listener = try Listener(at: address, on: scheduler)
    self.init(transform(listener.connections), [listener], limits, scheduler, wallClock)
  }

  /// Listens on several addresses, for example over IPv4 and IPv6, and on a Unix socket.
  ///
  /// `SocketAddress.passed()` returns the addresses passed by systemd's socket activation; without systemd, none.
  ///
  /// - Parameters:
  ///   - addresses: addresses of this machine, or paths for new sockets, where no file exists yet.
  ///   - limits: the limits for clients, at all addresses together.
  ///   - scheduler: an `EventLoop`, or virtual time in a test.
  ///   - wallClock: the time of day, in seconds since 1970; the system's by default.
  /// - Precondition: there is an address.
  /// - Throws: when one of the addresses is invalid, in use, or not permitted; in that case, the server listens on none
  ///   of them.
  public convenience init(
    at addresses: [SocketAddress], limits: HTTPServerLimits = HTTPServerLimits(), on scheduler: any LoopScheduler,
    wallClock: @escaping () -> Int64 = SystemClock.seconds
  ) throws(SystemError) {
    precondition(!addresses.isEmpty, "HTTPServer(at: []): there is no address to listen on; pass one")
    var listeners: [Listener] = []
    for address in addresses { listeners.append(try Listener(at: address, on: scheduler)) }
    self.init(Publishers.MergeMany(listeners.map(\.connections)), listeners, limits, scheduler, wallClock)
  }

  /// Serves the connections that `connections`, such as a `Listener`, delivers once this server has a subscriber.
  public convenience init<P: Publisher>(
    _ connections: P, limits: HTTPServerLimits = HTTPServerLimits(), on scheduler: any LoopScheduler,
    wallClock: @escaping () -> Int64 = SystemClock.seconds
  ) where P.Output == Connection, P.Failure == Never {
    self.init(connections, [], limits, scheduler, wallClock)
  }

  /// - Parameter clients: counts the connections of servers that share a port.
  init<P: Publisher>(
    _ connections: P, _ listeners: [Listener], _ limits: HTTPServerLimits, _ scheduler: any LoopScheduler,
    _ wallClock: @escaping () -> Int64, clients: ClientCounts = ClientCounts()
  ) where P.Output == Connection, P.Failure == Never {
    limits.check()
    self.limits = limits
    self.scheduler = scheduler
    self.listeners = listeners
    shares = ConnectionShares(clients)
    self.wallClock = wallClock
    incoming = connections.eraseToAnyPublisher()
    if StreamDiagnostics.hasWarnings, let home = scheduler as? any StreamDomain, home.isHere {
      home.subscriptions?.add(self)
    }
  }

  deinit { close() }

  /// The first address on which the server listens; `nil` if its connections come from a publisher.
  public var address: SocketAddress? { listeners.first?.address }

  /// All addresses on which the server listens.
  public var addresses: [SocketAddress] { listeners.map(\.address) }

  /// The number of open connections.
  public var connectionCount: Int { connections.count }

  /// The number of response bytes waiting to be written, on all connections.
  public var waitingBytes: Int { connections.reduce(0) { $0 + $1.outBytes } }

  /// Fields that every response includes, even those that the server itself sends, such as 400; a response's own field
  /// with the same name replaces it, except for `Vary`, which is added. None by default.
  ///
  /// - Precondition: the fields are valid, and don't include `Date` or fields that delimit bodies.
  public var headers: HTTPHeaders {
    get { heads.always }
    set {
      for (name, value) in newValue {
        precondition(
          HTTPSyntax.isField(name, value) && !ResponseHeads.isOurs(name) && !HTTPSyntax.isSame(name, "date"),
          "HTTPServer.headers: \(name) is set by the server, or has characters that HTTP does not allow; leave it out")
      }
      heads.always = newValue
    }
  }

  /// Called for each request whose handler or body failed: the client got status 500, or a truncated response.
  ///
  /// An `HTTPStatus` or ``ProblemDetails`` that is thrown is a response, not a failure. If this isn't set, errors go
  /// to `StreamDiagnostics.onCaughtError`.
  public var onError: ((FailedRequest) -> Void)?

  /// The requests, delivered on demand.
  ///
  /// **Demand:** with demand, connections are accepted; without demand, new connections wait in the system's backlog,
  /// and requests wait on open connections. **Failure:** never. Finishes when the server is closed or has shut down.
  /// **Cancellation:** closes the connections; the server continues to listen, and the publisher may be subscribed to
  /// again.
  /// **Policy:** holds one request of each open connection, and accepts at most one connection more than requested.
  ///
  /// There can be one subscriber at a time: a second subscription finishes without a value.
  public var requests: Publishers.Requests { Publishers.Requests(server: self) }

  // MARK: Connections

  func add(_ connection: Connection) {
    guard isListening else { return connection.close() }
    let (isAdmitted, client) = admit(connection)
    guard isAdmitted else { return }
    let served = ServerConnection(connection, self, client)
    served.index = connections.count
    served.isLate = isEnding
    connections.append(served)
    swap(served.index, timed)
    timed += 1
    if ticker == nil {
      let tick = limits.tick
      ticker = scheduler.schedule(after: scheduler.now.advanced(by: tick), interval: tick) { [unowned self] in
        // A handler may release the server when its client's time is over.
        withExtendedLifetime(self) {
          // In reverse order, because the last connection takes the place of a closed one.
          for index in (0..<timed).reversed() where index < timed { connections[index].tick() }
          // One of the connections may now have waited long enough to be closed for a new one.
          if connections.count >= limits.connections { subscription?.acceptMore() }
        }
      }
    }
    served.start()
  }

  func remove(_ connection: ServerConnection) {
    if let client = connection.client { shares.clients.leave(client) }
    stopTiming(connection)
    swap(connection.index, connections.count - 1)
    connections.removeLast()
    if connections.isEmpty {
      ticker?.cancel()
      ticker = nil
      if isEnding, !isListening { return ended() }
    }
    subscription?.acceptMore()
  }

  /// Called when a connection switches to a different protocol, which has its own deadlines.
  func stopTiming(_ connection: ServerConnection) {
    guard connection.index < timed else { return }
    timed -= 1
    swap(connection.index, timed)
  }

  private func swap(_ one: Int, _ other: Int) {
    guard one != other else { return }
    connections.swapAt(one, other)
    connections[one].index = one
    connections[other].index = other
  }

  func closeConnections() {
    while let last = connections.last { last.close() }
  }

  func begin(_ subscription: RequestSource) { incoming.subscribe(subscription) }
  func deliver(_ request: ServerRequest) { subscription?.deliver(request) }
}

extension HTTPServer: WatchedServer {
  package var isWaiting: Bool { !wasServed && !isEnding }
  package var title: String { address.map { "HTTPServer at \($0)" } ?? "HTTPServer" }
}
