public import FeedStream

extension Connection {
  /// Secures this connection as a client of `host`: delivers the secure connection and finishes.
  ///
  /// The secure connection retains this one, which must no longer be used. Its `bytes` finish when the peer sends
  /// `close_notify`; if the connection ends without that, they fail with `ECONNABORTED`. Closing the secure connection
  /// sends `close_notify` to the peer.
  ///
  /// **Demand:** begins on subscription; the connection is held until it is requested. **Failure:** ``TLSError``;
  /// this connection is then closed. **Cancellation:** closes the connection. **Policy:** holds one connection.
  ///
  /// - Parameters:
  ///   - client: the trusted roots and the offered protocols.
  ///   - host: a name, which is also sent to the server (SNI), or a numeric address. The certificate must be valid for
  ///     that name or address.
  ///   - limit: the time limit for the handshake; ten seconds by default.
  ///   - scheduler: the connection's scheduler.
  public func secured(
    by client: TLSClient, host: String, within limit: StreamInstant.Stride = .seconds(10),
    on scheduler: any LoopScheduler
  ) -> AnyPublisher<Connection, TLSError> {
    secured(within: limit, host, on: scheduler) { () throws(TLSError) in try client.engine(for: host) }
  }

  /// Secures this accepted connection as a server: delivers the secure connection and finishes.
  ///
  /// **Demand, failure, cancellation, policy:** as in ``secured(by:host:within:on:)``.
  ///
  /// - Parameters:
  ///   - server: the server's identity, and the clients to admit.
  ///   - limit: the time limit for the handshake; ten seconds by default.
  ///   - scheduler: the connection's scheduler.
  public func secured(
    by server: TLSServer, within limit: StreamInstant.Stride = .seconds(10), on scheduler: any LoopScheduler
  ) -> AnyPublisher<Connection, TLSError> {
    secured(within: limit, nil, on: scheduler) { () throws(TLSError) in server.engine() }
  }

  fileprivate func secured(
    within limit: StreamInstant.Stride, _ host: String?, on scheduler: any LoopScheduler,
    among handshakes: Handshakes? = nil, _ make: @escaping () throws(TLSError) -> TLSEngine
  ) -> AnyPublisher<Connection, TLSError> {
    Deferred { () -> AnyPublisher<Connection, TLSError> in
      let handshake: Handshake
      do throws(TLSError) {
        do throws(SystemError) { try self.claim() } catch { throw .system(error) }
        handshake = Handshake(TLSChannel(self, try make(), on: scheduler), within: limit, among: handshakes)
      } catch {
        return Fail(error: error).eraseToAnyPublisher()
      }
      return Future<Connection, TLSError> { promise in handshake.start(with: host) { promise($0) } }
        .handleEvents(receiveCancel: { handshake.cancel() })
        .eraseToAnyPublisher()
    }
    .eraseToAnyPublisher()
  }

  /// Looks up a host, connects to it and secures the connection: delivers the secure connection and finishes.
  ///
  /// For example: `Connection.connect(to: "example.org:443", securedBy: tls, on: loop)`.
  ///
  /// **Demand:** begins on subscription; the connection is held until it is requested. **Failure:** ``TLSError``.
  /// **Cancellation:** abandons the attempt. **Policy:** holds one connection.
  ///
  /// - Parameters:
  ///   - host: `name:port`, with a name or a numeric address; an IPv6 address is in brackets.
  ///   - client: the trusted roots and the offered protocols.
  ///   - lookUpLimit: the time limit for the lookup; five seconds by default.
  ///   - connectLimit: the time limit for connecting; ten seconds by default.
  ///   - handshakeLimit: the time limit for the handshake; ten seconds by default.
  ///   - scheduler: an `EventLoop`, or virtual time in a test.
  public static func connect(
    to host: String, securedBy client: TLSClient, lookUpLimit: StreamInstant.Stride = .seconds(5),
    connectLimit: StreamInstant.Stride = .seconds(10), handshakeLimit: StreamInstant.Stride = .seconds(10),
    on scheduler: any LoopScheduler
  ) -> AnyPublisher<Connection, TLSError> {
    let name = host.lastIndex(of: ":").map { String(host[..<$0]) } ?? host
    let bare = name.hasPrefix("[") && name.hasSuffix("]") ? String(name.dropFirst().dropLast()) : name
    return connect(to: host, lookUpLimit: lookUpLimit, connectLimit: connectLimit, on: scheduler)
      .mapError { TLSError.system($0) }
      .flatMap { $0.secured(by: client, host: bare, within: handshakeLimit, on: scheduler) }
      .eraseToAnyPublisher()
  }
}

extension Publisher where Output == Connection, Failure == Never {
  /// Secures the connections that a `Listener` accepts.
  ///
  /// For example: `HTTPServer(at: address, on: loop) { $0.secured(by: tls, on: loop) }`.
  ///
  /// A connection whose handshake fails is closed and reported, not delivered.
  ///
  /// **Demand:** `handshakes` connections are requested from upstream, and another one each time a connection is
  /// delivered or abandoned, so up to that many accepted connections may wait. **Failure:** never. **Cancellation:**
  /// closes connections that have not been delivered. **Policy:** holds `handshakes` connections.
  ///
  /// - Parameters:
  ///   - server: the server's identity, and the clients to admit.
  ///   - handshakes: the maximum number of concurrent handshakes; 64 by default. A stalled handshake counts until
  ///     `limit` has passed. While there are that many, and more than a quarter of them (and more than two) are with
  ///     one address, or with one IPv6 network with a 64-bit prefix, the oldest of these fails with
  ///     ``TLSError/tooManyHandshakes`` if it has run for 100 ms. Loopback addresses and Unix sockets are exempt. If all connections come from
  ///     one other host, such as a load balancer that passes TLS through, choose a larger maximum.
  ///   - limit: the time limit for a handshake; ten seconds by default.
  ///   - scheduler: the connections' scheduler.
  ///   - report: called with each failure and the peer's address; by default, reports to
  ///     `StreamDiagnostics.onCaughtError`.
  public func secured(
    by server: TLSServer, handshakes: Int = 64, within limit: StreamInstant.Stride = .seconds(10),
    on scheduler: any LoopScheduler, report: ((TLSError, SocketAddress) -> Void)? = nil
  ) -> AnyPublisher<Connection, Never> {
    let running = Handshakes(most: handshakes)
    return flatMap(maxPublishers: .max(handshakes)) { connection in
      let peer = connection.peer
      return connection.secured(within: limit, nil, on: scheduler, among: running) { () in server.engine() }
        .catch { error in
          if let report {
            report(error, peer)
          } else {
            StreamDiagnostics.caught(error, "Connection.secured: a handshake with \(peer)")
          }
          return Empty<Connection, Never>()
        }
    }
    .eraseToAnyPublisher()
  }
}

/// A listener's running handshakes.
private final class Handshakes {
  private let most: Int
  /// The number of handshakes that one client may always have.
  private let share: Int
  private var count = 0
  /// The handshakes of each client that isn't local, the oldest first.
  private var clients: [String: [Handshake]] = [:]
  private var timer: (any Cancellable)?
  /// The time that each handshake gets, so that a burst of connections from one address, such as a load balancer's,
  /// isn't refused.
  private static let leastTime = StreamInstant.Stride.milliseconds(100)

  init(most: Int) { (self.most, share) = (most, max(2, most / 4)) }

  func add(_ handshake: Handshake, on scheduler: any LoopScheduler) {
    count += 1
    if let client = handshake.client { clients[client, default: []].append(handshake) }
    // On a later turn, so that a long backlog doesn't keep the loop from other work.
    if count >= most { scheduler.schedule { [weak self] in self?.makeRoom(on: scheduler) } }
  }

  func remove(_ handshake: Handshake) {
    count -= 1
    timer.take()?.cancel()
    guard let client = handshake.client else { return }
    clients[client]?.removeAll { $0 === handshake }
    if clients[client]?.isEmpty == true { clients[client] = nil }
  }

  /// If there are as many handshakes as possible, ends one of the client with the most, so that it can't occupy the
  /// listener.
  private func makeRoom(on scheduler: any LoopScheduler) {
    guard count >= most, let largest = clients.values.max(by: { $0.count < $1.count }), largest.count > share else {
      return
    }
    let left = scheduler.now.distance(to: largest[0].began.advanced(by: Self.leastTime))
    guard left > .zero else { return largest[0].settle(.tooManyHandshakes) }
    timer?.cancel()
    timer = scheduler.once(after: left) { [weak self] in
      self?.timer = nil
      self?.makeRoom(on: scheduler)
    }
  }
}

/// A running handshake and its deadline.
private final class Handshake {
  private var channel: TLSChannel?
  private let limit: StreamInstant.Stride
  /// The handshakes of the same listener; `nil` for a connection that doesn't come from one.
  private let others: Handshakes?
  /// The client, if its handshakes are limited.
  let client: String?
  let began: StreamInstant
  private var deadline: (any Cancellable)?
  private var done: ((Result<Connection, TLSError>) -> Void)?

  init(_ channel: TLSChannel, within limit: StreamInstant.Stride, among others: Handshakes?) {
    self.channel = channel
    self.limit = limit
    self.others = others
    began = channel.scheduler.now
    client = others == nil || channel.peer.isLocal ? nil : channel.peer.client
  }

  func start(with host: String?, _ done: @escaping (Result<Connection, TLSError>) -> Void) {
    guard let channel else { return }
    self.done = done
    others?.add(self, on: channel.scheduler)
    deadline = channel.scheduler.once(after: limit) { [self] in settle(.timedOut(limit)) }
    channel.shakeHands(with: host) { [self] in settle($0) }
  }

  func settle(_ error: TLSError?) {
    let (done, channel) = (self.done, self.channel)
    cancelDeadline()
    guard let channel else { return }
    if let error {
      channel.close()
      done?(.failure(error))
    } else {
      done?(.success(Connection(channel, to: channel.peer)))
    }
  }

  private func cancelDeadline() {
    if deadline != nil { others?.remove(self) }
    deadline?.cancel()
    (deadline, done, channel) = (nil, nil, nil)
  }

  func cancel() {
    let channel = self.channel
    cancelDeadline()
    channel?.close()
  }
}
