import CLibrary
public import FeedStream

/// Servers at one address, one on each loop of a group.
///
///     let group = try EventLoopGroup()
///     let servers = try HTTPServerGroup(at: .internet("127.0.0.1", port: 8080), on: group) { server in
///       server.serve { .text("You asked for \($0.path)\n") }
///     }
///     await servers.shutdown()
///
/// Each loop listens on the port (`SO_REUSEPORT`), and the system distributes new connections among them. A
/// connection and its handlers stay on one loop, so the handlers need no locks. State that handlers on several loops
/// share must be `Sendable`, such as an actor, a `SharedValue`, the senders of subjects, or an
/// ``EventLog/Channel``.
///
/// If another program's server uses the port, creating the group fails, as it does for a single server. The group
/// closes when it is released.
public final class HTTPServerGroup: Sendable {
  /// The address on which all servers listen.
  public let address: SocketAddress
  private let servers: [OnLoop<Serving?>]

  /// One loop's server.
  private final class Serving {
    let server: HTTPServer
    private let serving: AnyCancellable
    private var ending: AnyCancellable?
    private var leaving: [Ticket] = []

    init(_ server: HTTPServer, _ serving: AnyCancellable) {
      self.server = server
      self.serving = serving
    }

    func shutdown(within deadline: StreamInstant.Stride, _ grace: StreamInstant.Stride, _ ticket: Ticket) {
      leaving.append(ticket)
      ending = server.shutdown(within: deadline, grace: grace).sink { [unowned self] _ in
        leaving = []
      } receiveValue: { _ in
      }
    }

    deinit {
      // Closing the server also completes a shutdown, whose closure must not refer to this object anymore.
      ending = nil
      server.close()
    }
  }

  /// Starts the servers.
  ///
  /// - Parameters:
  ///   - address: a numeric address of this machine, `0.0.0.0` or `::` for all of them; not a path.
  ///   - limits: the limits for clients, on all loops together: each loop gets an equal share of
  ///     ``HTTPServerLimits/connections`` and ``HTTPServerLimits/wholeBodyBytes``, rounded up, and the connections of a client are
  ///     counted together.
  ///   - group: the loops that serve.
  ///   - wallClock: the time of day, in seconds since 1970; the system's by default.
  ///   - serve: runs once on each loop, with its server; the result is retained until the server closes.
  /// - Precondition: the group has event loops, and none of them is the calling thread's.
  /// - Throws: `SystemError` when the address is invalid, in use, or not permitted, or the group is shut down; also
  ///   the error that `serve` throws. In either case, no server listens.
  public convenience init(
    at address: SocketAddress, limits: HTTPServerLimits = HTTPServerLimits(), on group: EventLoopGroup,
    wallClock: @escaping @Sendable () -> Int64 = SystemClock.seconds,
    _ serve: @escaping @Sendable (HTTPServer) throws -> AnyCancellable
  ) throws {
    try self.init(
      at: address, limits: limits, on: group, wallClock: wallClock, transform: { connections, _ in connections },
      serve)
  }

  /// Starts servers for the connections that `transform` returns in place of the accepted ones, for example to add
  /// TLS.
  ///
  /// With `FeedTLS`, pass `{ $0.secured(by: tls, on: $1) }`. Otherwise, this is the same as the initializer without
  /// `transform`.
  ///
  /// - Parameter transform: runs once on each loop, with the loop's connections and the loop.
  public init<P: Publisher>(
    at address: SocketAddress, limits: HTTPServerLimits = HTTPServerLimits(), on group: EventLoopGroup,
    wallClock: @escaping @Sendable () -> Int64 = SystemClock.seconds,
    transform: @escaping @Sendable (Publishers.Connections, EventLoop) -> P,
    _ serve: @escaping @Sendable (HTTPServer) throws -> AnyCancellable
  ) throws where P.Output == Connection, P.Failure == Never {
    precondition(
      !group.loops.isEmpty && !group.loops.contains(where: \.isCurrent),
      "HTTPServerGroup: pass one or more loops that this thread doesn't run; for this thread's loop, use HTTPServer"
    )
    limits.check()
    let limits = limits.divided(by: group.count)
    let clients = ClientCounts()
    var servers: [OnLoop<Serving?>] = []
    var place = address
    do {
      for loop in group.loops {
        let port: PortSharing = group.count == 1 ? .alone : servers.isEmpty ? .first : .shared
        let outcome = Locked<Result<SocketAddress, any Error>?>(nil)
        let server = OnLoop<Serving?>(loop) { [place] loop in
          let started = Result {
            let listener = try Listener(at: place, port: port, on: loop)
            let server = HTTPServer(
              transform(listener.connections, loop), [listener], limits, loop, wallClock, clients: clients)
            return (Serving(server, try serve(server)), listener.address)
          }
          outcome.withLock { $0 = started.map(\.1) }
          return try? started.get().0
        }
        servers.append(server)
        guard let outcome = loop.result(of: { outcome.withLock { $0 } }) ?? nil else {
          throw SystemError("listen on", "\(place)", code: ECANCELED)
        }
        place = try outcome.get()
      }
    } catch {
      for server in servers {
        server.cancel()
        server.loop.result(of: {})
      }
      throw error
    }
    self.servers = servers
    self.address = place
  }

  deinit { close() }

  /// The number of open connections on all loops; a closed loop has none.
  public var connectionCount: Int { get async { await sum(\.connectionCount) } }

  /// The number of response bytes waiting to be written, on all connections of all loops.
  public var waitingBytes: Int { get async { await sum(\.waitingBytes) } }

  private func sum(_ count: @escaping @Sendable (HTTPServer) -> Int) async -> Int {
    var sum = 0
    for server in servers { sum += await server.get { $0.map { count($0.server) } ?? 0 } ?? 0 }
    return sum
  }

  /// Stops listening and closes all connections, on the next turn of each loop. Idempotent, and safe from any thread.
  public func close() {
    for server in servers { server.cancel() }
  }

  /// Stops accepting connections, and completes the requests that have begun. Safe from any thread.
  ///
  /// Returns when the last connection is closed, or when all loops are.
  ///
  /// - Parameters:
  ///   - deadline: the time after which remaining connections are closed; 10 s by default. If this is called again, the
  ///     earliest deadline counts.
  ///   - grace: the time that idle connections stay open for one last request; zero by default
  ///     (``HTTPServer/shutdown(within:grace:)``).
  public func shutdown(
    within deadline: StreamInstant.Stride = .seconds(10), grace: StreamInstant.Stride = .zero
  ) async {
    await withUnsafeContinuation { continuation in
      let ticket = Ticket(continuation)
      for server in servers { server.bring { $0?.shutdown(within: deadline, grace, ticket) } }
    }
    close()
  }
}

/// Resumes a task when the last owner releases this ticket.
private final class Ticket: Sendable {
  private let continuation: UnsafeContinuation<Void, Never>

  init(_ continuation: UnsafeContinuation<Void, Never>) { self.continuation = continuation }
  deinit { continuation.resume() }
}

extension HTTPServerLimits {
  /// One loop's share of the limits.
  fileprivate func divided(by count: Int) -> Self {
    var limits = self
    limits.connections = (connections + count - 1) / count
    limits.wholeBodyBytes = (wholeBodyBytes + count - 1) / count
    return limits
  }
}
