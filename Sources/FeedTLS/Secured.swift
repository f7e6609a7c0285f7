public import FeedStream

extension Connection {
  /// Secures this connection as a client that wants to speak with `host`: delivers the secure one and finishes.
  ///
  /// The secure connection keeps this one, which may not be used any more. Its `bytes` finish when the peer says that
  /// nothing follows; when the connection ends without that, they fail with `ECONNABORTED`. Closing it says so to the other
  /// side.
  ///
  /// **Demand:** begins at the subscription; the connection is held until it is requested. **Failure:** ``TLSError``; this
  /// connection is closed then. **Cancellation:** closes it. **Policy:** holds one.
  ///
  /// - Parameters:
  ///   - client: the trusted roots and the offered protocols.
  ///   - host: a name, also sent as the server's name (SNI), or a numeric address: the certificate has to be for it.
  ///   - limit: how long the handshake may take: ten seconds by default.
  ///   - scheduler: the one that the connection lives on.
  public func secured(
    by client: TLSClient, host: String, within limit: StreamInstant.Stride = .seconds(10),
    on scheduler: any LoopScheduler
  ) -> AnyPublisher<Connection, TLSError> {
    secured(within: limit, host, on: scheduler) { () throws(TLSError) in try client.engine(for: host) }
  }

  /// Secures this connection, which was accepted, as a server: delivers the secure one and finishes.
  ///
  /// **Demand, failure, cancellation, policy:** as in ``secured(by:host:within:on:)``.
  ///
  /// - Parameters:
  ///   - server: who we are, and whom we let in.
  ///   - limit: how long the handshake may take: ten seconds by default.
  ///   - scheduler: the one that the connection lives on.
  public func secured(
    by server: TLSServer, within limit: StreamInstant.Stride = .seconds(10), on scheduler: any LoopScheduler
  ) -> AnyPublisher<Connection, TLSError> {
    secured(within: limit, nil, on: scheduler) { () throws(TLSError) in server.engine() }
  }

  private func secured(
    within limit: StreamInstant.Stride, _ host: String?, on scheduler: any LoopScheduler,
    _ make: @escaping () throws(TLSError) -> TLSEngine
  ) -> AnyPublisher<Connection, TLSError> {
    Deferred { () -> AnyPublisher<Connection, TLSError> in
      let handshake: Handshake
      do throws(TLSError) {
        do throws(SystemError) { try self.claim() } catch { throw .system(error) }
        handshake = Handshake(TLSChannel(self, try make(), on: scheduler), within: limit)
      } catch {
        return Fail(error: error).eraseToAnyPublisher()
      }
      return Future<Connection, TLSError> { promise in handshake.start(with: host) { promise($0) } }
        .handleEvents(receiveCancel: { handshake.cancel() })
        .eraseToAnyPublisher()
    }
    .eraseToAnyPublisher()
  }

  /// Looks up a host, connects to it and secures the connection: delivers it and finishes.
  ///
  /// As in `Connection.connect(to: "example.org:443", securedBy: tls, on: loop)`.
  ///
  /// **Demand:** begins at the subscription; the connection is held until it is requested. **Failure:** ``TLSError``.
  /// **Cancellation:** gives everything up. **Policy:** holds one.
  ///
  /// - Parameters:
  ///   - host: `name:port`, with a name or a numeric address; one of IPv6 in brackets.
  ///   - client: the trusted roots and the offered protocols.
  ///   - lookUpLimit: the time limit for the lookup; five seconds by default.
  ///   - connectLimit: how long connecting may take: ten seconds by default.
  ///   - handshakeLimit: how long the handshake may take: ten seconds by default.
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
  /// As in `HTTPServer(at: address, on: loop) { $0.secured(by: tls, on: loop) }`.
  ///
  /// One whose handshake fails is closed, reported, and not delivered.
  ///
  /// **Demand:** `handshakes` connections are requested from upstream, and another one whenever one is delivered or
  /// given up: that many may be accepted and wait. **Failure:** never. **Cancellation:** closes those that are not
  /// delivered. Policy: holds `handshakes`.
  ///
  /// - Parameters:
  ///   - server: who we are, and whom we let in.
  ///   - handshakes: how many handshakes run at the same time: 64 by default. One that makes no progress keeps its place until
  ///     `limit`.
  ///   - limit: how long a handshake may take: ten seconds by default.
  ///   - scheduler: the one that the connections live on.
  ///   - report: called with each failure, and with the address of the peer; by default, reports to
  ///     `StreamDiagnostics.onCaughtError`.
  public func secured(
    by server: TLSServer, handshakes: Int = 64, within limit: StreamInstant.Stride = .seconds(10),
    on scheduler: any LoopScheduler, report: ((TLSError, SocketAddress) -> Void)? = nil
  ) -> AnyPublisher<Connection, Never> {
    flatMap(maxPublishers: .max(handshakes)) { connection in
      let peer = connection.peer
      return connection.secured(by: server, within: limit, on: scheduler)
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

/// A handshake that is under way, with its deadline.
private final class Handshake {
  private var channel: TLSChannel?
  private let limit: StreamInstant.Stride
  private var deadline: (any Cancellable)?
  private var done: ((Result<Connection, TLSError>) -> Void)?

  init(_ channel: TLSChannel, within limit: StreamInstant.Stride) {
    self.channel = channel
    self.limit = limit
  }

  func start(with host: String?, _ done: @escaping (Result<Connection, TLSError>) -> Void) {
    guard let channel else { return }
    self.done = done
    deadline = channel.scheduler.once(after: limit) { [self] in settle(.timedOut(limit)) }
    channel.shakeHands(with: host) { [self] in settle($0) }
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
    deadline?.cancel()
    (deadline, done, channel) = (nil, nil, nil)
  }

  func cancel() {
    let channel = self.channel
    cancelDeadline()
    channel?.close()
  }
}
