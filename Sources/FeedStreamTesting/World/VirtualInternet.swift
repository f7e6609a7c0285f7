public import FeedStream

/// A network in virtual time, with names, listeners, connections and datagrams between the streams of one test.
///
/// As in the real network, closing a connection whose arrived bytes were not read resets it: reading at the other end
/// fails (`ECONNRESET`) after the latency. Bytes in transit to the other end are always lost.
///
/// Unlike in the real network, writing to a connection that the other end has closed fails immediately (`EPIPE`). A
/// real writer learns of that a round trip later; the bytes that it writes until then are accepted and lost. Bytes that
/// are in transit to an end when it closes are lost without a reset.
///
/// All numeric addresses belong to one machine: a socket at a wildcard address (`0.0.0.0` or `::`) receives what is sent
/// to any of them.
public final class VirtualInternet {
  /// The quality of a connection. A change applies to later connections.
  public struct Link: Hashable, Sendable {
    /// The time that a byte takes from one side to the other. A connection attempt takes twice that time, even if it
    /// is refused.
    public var latency: StreamInstant.Stride = .zero
    /// The number of bytes per second that each direction carries; `nil` means no limit.
    public var bytesPerSecond: Int?
    /// The maximum number of bytes in transit or unread in each direction; the writer waits while there are that many.
    /// 64 KiB by default.
    public var buffer = 64 * 1024
    /// The maximum number of bytes that arrive as one chunk; 16 KiB by default. With 1 (or less), every byte arrives
    /// separately.
    public var segment = 16 * 1024
    /// The number of bytes that arrive from the connecting side before the connection is lost; `nil` means no loss.
    public var lostAfterBytesUp: Int?
    /// The number of bytes that arrive from the listening side before the connection is lost; `nil` means no loss.
    public var lostAfterBytesDown: Int?

    public init() {}

    func time(for count: Int) -> StreamInstant.Stride {
      guard let bytesPerSecond, bytesPerSecond > 0 else { return .zero }
      return .nanoseconds(Int(Double(count) / Double(bytesPerSecond) * 1e9))
    }
  }

  /// The result of an attempt to connect to an address.
  public enum Answer: Hashable, Sendable {
    /// The default: a connection to the listener, or a refusal if there is none.
    case usual
    /// No result: the attempt waits forever.
    case silence
    /// A failure, with the system's error number.
    case failure(Int32)
  }

  /// The quality of new connections.
  public var link = Link()
  /// The results of connection attempts, for addresses whose result isn't ``Answer/usual``.
  ///
  /// - Precondition: internet addresses are numeric. A connection to a name tries the addresses of the name; see
  ///   ``hosts``.
  public var answers: [SocketAddress: Answer] = [:] {
    didSet {
      for address in answers.keys {
        guard case .internet(let host, _) = address.kind else { continue }
        precondition(
          host.isNumericHost,
          "VirtualInternet.answers: nothing connects to the name \(host); use its numeric addresses, and set hosts")
      }
    }
  }
  /// The addresses of hosts. Numeric addresses need no entry; other names without an entry are unknown. The case of the
  /// letters doesn't matter.
  public var hosts: [String: [String]] = ["localhost": ["127.0.0.1"]]
  /// The time that a lookup takes; `nil` if it never completes.
  public var lookUpLatency: StreamInstant.Stride? = .zero
  /// Decides whether a datagram is lost in transit.
  public var losesDatagram: (Datagram) -> Bool = { _ in false }
  /// The maximum number of bytes of datagrams that wait for a reader; further datagrams are dropped. 208 KiB by
  /// default.
  public var datagramBuffer = 208 * 1024
  /// The number of datagrams that were lost, were dropped, or had no receiver.
  public internal(set) var lostDatagrams = 0

  // Weak, because a listener, and with it the attempts that wait for it, may be released after the scheduler.
  private weak var time: VirtualTimeScheduler?
  /// The listeners at each address, in the order of their turns.
  private var listeners: [SocketAddress: [VirtualListener]] = [:]
  private var datagramPorts: [SocketAddress: VirtualDatagrams] = [:]
  private var channels: [Weak] = []
  private var nextPort = 49_152

  private struct Weak {
    weak var channel: VirtualChannel?
    /// The port of the connecting side; `nil` for a Unix socket.
    let port: Int?
  }

  init(_ time: VirtualTimeScheduler) { self.time = time }

  /// Breaks every open connection.
  public func loseConnections() {
    for entry in channels { entry.channel?.lose(104) }  // ECONNRESET
    channels = []
  }

  // MARK: Connections

  func listen(
    at address: SocketAddress, backlog: Int, _ port: PortSharing
  ) throws(SystemError) -> VirtualListener {
    let address = try place(of: address, "listen on")
    if case .unix = address.kind, port != .alone {
      throw SystemError("listen on", "\(address)", code: 95)  // EOPNOTSUPP
    }
    let others = listeners.filter { $0.key.collides(with: address) }.flatMap(\.value)
    guard others.isEmpty || port == .shared && others.allSatisfy(\.isShared) else {
      throw SystemError("listen on", "\(address)", code: 98)  // EADDRINUSE
    }
    let listener = VirtualListener(address, backlog: backlog, isShared: port != .alone) { [weak self] closed in
      guard let self else { return }
      listeners[address]?.removeAll { $0 === closed }
      if listeners[address]?.isEmpty == true { listeners[address] = nil }
    }
    listeners[address, default: []].append(listener)
    return listener
  }

  /// The listener for the next connection; listeners that share an address take turns.
  private func nextListener(at address: SocketAddress) -> VirtualListener? {
    let address = address.homes.first { listeners[$0]?.isEmpty == false } ?? address
    guard let listener = listeners[address]?.first else { return nil }
    listeners[address]?.removeFirst()
    listeners[address]?.append(listener)
    return listener
  }

  /// The address, with a newly chosen port if the port is 0.
  private func place(of address: SocketAddress, _ operation: String) throws(SystemError) -> SocketAddress {
    // A test inherits no sockets.
    if case .inherited = address.kind { throw SystemError(operation, "\(address)", code: 9) }  // EBADF
    if let code = address.problem { throw SystemError(operation, "\(address)", code: code) }
    guard case .internet(let host, 0) = address.kind else { return address }
    return .internet(host, port: takePort())
  }

  /// Chooses a port at which nothing listens and that no open connection uses, from the range that is reserved for that
  /// (RFC 6335, 6).
  private func takePort() -> Int {
    let range = 49_152...65_535
    for _ in range {
      let port = nextPort
      nextPort = port == range.upperBound ? range.lowerBound : port + 1
      let isUsed =
        listeners.keys.contains { $0.port == port } || datagramPorts.keys.contains { $0.port == port }
        || channels.contains { $0.port == port && $0.channel?.isClosed == false }
      if !isUsed { return port }
    }
    preconditionFailure("VirtualInternet: all ports from 49,152 to 65,535 are used; close listeners and connections")
  }

  func connect(
    to address: SocketAddress, _ done: @escaping (Result<any ByteChannel, SystemError>) -> Void
  ) -> any Cancellable {
    let attempt = Attempt()
    if let code = address.problem {
      attempt.step = time?.after(.zero, "a connection to \(address)") {
        done(.failure(SystemError("connect to", "\(address)", code: code)))
      }
    } else {
      send(attempt, to: address, link.latency, done)
    }
    return attempt
  }

  private func send(
    _ attempt: Attempt, to address: SocketAddress, _ latency: StreamInstant.Stride,
    _ done: @escaping (Result<any ByteChannel, SystemError>) -> Void
  ) {
    let name = "a connection to \(address)"
    func fail(_ code: Int32) {
      let error = SystemError("connect to", "\(address)", code: code)
      // The news of the failure travels back.
      guard latency.nanoseconds > 0 else { return done(.failure(error)) }
      attempt.step = time?.after(latency, name) { done(.failure(error)) }
    }
    attempt.step = time?.after(latency, name) { [self] in
      let answer = answers[address] ?? .usual
      switch (answer, answer == .usual ? nextListener(at: address) : nil) {
      case (.silence, _): attempt.step = nil
      case (.failure(let code), _): fail(code)
      case (.usual, nil): if case .unix = address.kind { fail(2) } else { fail(111) }  // ENOENT, ECONNREFUSED
      case (.usual, let listener?):
        // If the listener closes meanwhile, the client's next attempt reaches another listener or is refused.
        attempt.retry = { [self, weak attempt] in
          if let attempt { send(attempt, to: address, latency, done) }
        }
        listener.whenThereIsRoom(for: attempt) { [self] in
          attempt.retry = nil
          guard let time else { return }
          let client: SocketAddress = if case .unix = address.kind { address } else { nextClient() }
          let (near, far) = VirtualChannel.pair(time, client: client, server: address, link, isSocket: true)
          channels.removeAll { $0.channel == nil }
          channels.append(Weak(channel: near, port: client.port))
          listener.add(far)
          attempt.step = time.after(latency, name) { done(.success(near)) }
        }
      }
    }
  }

  private func nextClient() -> SocketAddress { .internet("127.0.0.1", port: takePort()) }

  final class Attempt: Cancellable {
    var step: (any Cancellable)?
    /// Called when the listener closes while the attempt waits for room in the backlog.
    var retry: (() -> Void)?
    private(set) var isCancelled = false

    func cancel() {
      isCancelled = true
      retry = nil
      step?.cancel()
    }
  }

  // MARK: Names

  func lookUp(
    _ host: String, _ port: Int, _ done: @escaping (Result<[SocketAddress], SystemError>) -> Void
  ) -> any Cancellable {
    guard let lookUpLatency else { return Attempt() }
    let lookup = time?.after(lookUpLatency, "the lookup of \(host)") { [self] in
      // As in the system, the case of the letters doesn't matter.
      let known = hosts[host] ?? hosts.first { $0.key.lowercased() == host.lowercased() }?.value
      if let found = host.isNumericHost ? [host] : known {
        done(.success(found.map { .internet($0, port: port) }))
      } else {
        done(.failure(SystemError("look up", host, code: 3008)))  // EAI_NONAME, as in libuv
      }
    }
    return lookup ?? Attempt()
  }

  // MARK: Datagrams

  func openDatagrams(at address: SocketAddress) throws(SystemError) -> VirtualDatagrams {
    guard case .internet = address.kind else {
      throw SystemError("receive at", "\(address)", code: 22)  // EINVAL
    }
    let address = try place(of: address, "receive at")
    guard !datagramPorts.keys.contains(where: { $0.collides(with: address) }) else {
      throw SystemError("receive at", "\(address)", code: 98)
    }
    let port = VirtualDatagrams(address, self)
    datagramPorts[address] = port
    return port
  }

  func close(_ port: VirtualDatagrams) { datagramPorts[port.address] = nil }

  /// Sends a datagram.
  func carry(_ datagram: Datagram, from sender: SocketAddress) {
    _ = time?.after(link.latency, "a datagram for \(datagram.address)") { [self] in
      guard !losesDatagram(datagram),
        let port = datagram.address.homes.lazy.compactMap({ self.datagramPorts[$0] }).first,
        port.receive(Datagram(datagram.bytes, to: sender.asSender(to: datagram.address)))
      else {
        lostDatagrams += 1
        return
      }
    }
  }
}

extension VirtualInternet {
  func soon(_ action: @escaping () -> Void) -> (any Cancellable)? { time?.after(.zero, "a datagram", action) }
}
