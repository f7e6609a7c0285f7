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
    among handshakes: HandshakeCounts? = nil, _ make: @escaping () throws(TLSError) -> TLSEngine
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
  ///     `limit` has passed. If a quarter of the handshakes (but at least two) are with one address, or with one IPv6
  ///     network with a 64-bit prefix, then others with it are abandoned after a tenth of `limit`.
  ///   - limit: the time limit for a handshake; ten seconds by default.
  ///   - scheduler: the connections' scheduler.
  ///   - report: called with each failure and the peer's address; by default, reports to
  ///     `StreamDiagnostics.onCaughtError`.
  public func secured(
    by server: TLSServer, handshakes: Int = 64, within limit: StreamInstant.Stride = .seconds(10),
    on scheduler: any LoopScheduler, report: ((TLSError, SocketAddress) -> Void)? = nil
  ) -> AnyPublisher<Connection, Never> {
    let running = HandshakeCounts(of: handshakes)
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

/// Counts a listener's running handshakes by client, so that one client can't occupy the listener.
private final class HandshakeCounts {
  private let share: Int
  private var counts: [String: Int] = [:]

  init(of handshakes: Int) { share = max(2, handshakes / 4) }

  func add(_ client: String) { counts[client, default: 0] += 1 }

  func remove(_ client: String) {
    guard let count = counts[client] else { return }
    counts[client] = count == 1 ? nil : count - 1
  }

  func hasTooMany(_ client: String) -> Bool { counts[client, default: 0] > share }
}

/// A running handshake and its deadline.
private final class Handshake {
  private var channel: TLSChannel?
  private let limit: StreamInstant.Stride
  /// The handshakes of the same listener; `nil` for a connection that doesn't come from one.
  private let others: HandshakeCounts?
  private let client: String
  private var deadline: (any Cancellable)?
  private var done: ((Result<Connection, TLSError>) -> Void)?

  init(_ channel: TLSChannel, within limit: StreamInstant.Stride, among others: HandshakeCounts?) {
    self.channel = channel
    self.limit = limit
    self.others = others
    client = others == nil ? "" : channel.peer.client
  }

  func start(with host: String?, _ done: @escaping (Result<Connection, TLSError>) -> Void) {
    guard let channel else { return }
    self.done = done
    if let others { wait(among: others, channel.scheduler) } else { wait(for: limit, channel.scheduler) }
    channel.shakeHands(with: host) { [self] in settle($0) }
  }

  private func wait(for rest: StreamInstant.Stride, _ scheduler: any LoopScheduler) {
    deadline = scheduler.once(after: rest) { [self] in settle(.timedOut(limit)) }
  }

  private func wait(among others: HandshakeCounts, _ scheduler: any LoopScheduler) {
    others.add(client)
    let tenth = StreamInstant.Stride.nanoseconds(Int(limit.nanoseconds / 10))
    deadline = scheduler.once(after: tenth) { [self] in
      if others.hasTooMany(client) { settle(.timedOut(tenth)) } else { wait(for: limit - tenth, scheduler) }
    }
  }

  private func settle(_ error: TLSError?) {
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
    if deadline != nil { others?.remove(client) }
    deadline?.cancel()
    (deadline, done, channel) = (nil, nil, nil)
  }

  func cancel() {
    let channel = self.channel
    cancelDeadline()
    channel?.close()
  }
}
