/// Waits for connections at an address.
///
///     let listener = try Listener(at: .internet("127.0.0.1", port: 8080), on: loop)
///     let echo = listener.connections
///       .flatMap { $0.bytes.write(to: $0).catch { _ in Empty() } }
///       .sink { _ in }
///
/// A listener listens until it is closed or released. Connections that haven't been accepted yet wait in the system's
/// backlog. The listener keeps the loop running while ``connections`` has a subscriber. Use a listener only on its
/// scheduler's thread.
public final class Listener {
  private let socket: any ListeningSocket
  fileprivate weak var subscription: ListeningSubscription? {
    didSet { socket.keepsLoopAlive = subscription != nil }
  }
  /// True once the listener is closed.
  public private(set) var isClosed = false

  /// The listener's address. If you requested port 0, this contains the port that the system chose.
  public var address: SocketAddress { socket.address }

  /// - Parameters:
  ///   - address: an address of this machine; `0.0.0.0` or `::` for all its addresses; a path at which no file exists;
  ///     or a socket that the process has inherited (``SocketAddress/inherited(_:)``).
  ///   - backlog: the maximum number of waiting connections; 511 by default. The system may allow fewer.
  ///   - sharingPort: true to share the port with other listeners of the same user that also share it (`SO_REUSEPORT`):
  ///     one on each loop of a group, or in a new process that takes over from an old one. Linux distributes
  ///     connections among the listeners, and a connection stays with its listener even if that listener accepts none;
  ///     macOS gives all connections to one listener. Fails for a path and for an inherited socket.
  ///   - scheduler: an ``EventLoop``, or virtual time in a test.
  /// - Throws: when the address is invalid, in use, or not permitted.
  public convenience init(
    at address: SocketAddress, backlog: Int = 511, sharingPort: Bool = false, on scheduler: any LoopScheduler
  ) throws(SystemError) {
    try self.init(at: address, backlog: backlog, port: sharingPort ? .shared : .alone, on: scheduler)
  }

  package init(
    at address: SocketAddress, backlog: Int = 511, port: PortSharing, on scheduler: any LoopScheduler
  ) throws(SystemError) {
    socket = try scheduler.world("Listener").listen(at: address, backlog: backlog, port: port)
    socket.keepsLoopAlive = false
    socket.onReady = { [unowned self] in subscription?.accept() }
  }

  deinit { close() }

  /// The connections, accepted on demand.
  ///
  /// **Demand:** a connection is accepted when one is requested; others wait in the system's backlog. When the backlog
  /// is full, the system refuses or ignores further connections. **Failure:** never; a connection that is lost before
  /// it is accepted, or for which there is no descriptor left, is skipped. Finishes when the listener is closed.
  /// **Cancellation:** leaves connections in the backlog. **Policy:** holds at most one connection that was not
  /// requested.
  ///
  /// There can be only one subscriber at a time: for a second one, the stream finishes without a value.
  public var connections: Publishers.Connections { Publishers.Connections(listener: self) }

  /// Stops listening. Accepted connections stay open. The file of a listener at a path is removed, unless another file
  /// has taken the path.
  public func close() {
    guard !isClosed else { return }
    isClosed = true
    socket.close()
    subscription?.end()
  }

  /// Ignores new connection attempts. Connections that are already being established still arrive. Clients retry
  /// ignored attempts after a second.
  ///
  /// - Returns: false if that isn't possible: for a path, for an inherited socket, and on systems other than Linux.
  package func ignoreNewConnections() -> Bool { !isClosed && socket.ignoreNewConnections() }

  fileprivate func accept() -> Connection? {
    isClosed ? nil : socket.accept().map { Connection($0, to: $0.peer) }
  }
}

extension Publishers {
  /// See ``Listener/connections``.
  public struct Connections: Publisher, _DeliversAtHome {
    public typealias Output = Connection
    public typealias Failure = Never

    let listener: Listener

    public func receive<S: Subscriber>(subscriber: S) where S.Input == Connection, S.Failure == Never {
      guard !listener.isClosed, listener.subscription == nil else {
        return Empty<Connection, Never>().receive(subscriber: subscriber)
      }
      let subscription = ListeningSubscription(listener, ErasedSubscriber(subscriber))
      listener.subscription = subscription
      subscriber.receive(subscription: subscription)
    }
  }
}

private final class ListeningSubscription: GuardedSubscription {
  private var down: ErasedSubscriber<Connection, Never>?
  private var listener: Listener?
  private var demand = Subscribers.Demand.none
  private var isAccepting = false

  init(_ listener: Listener, _ down: ErasedSubscriber<Connection, Never>) {
    self.listener = listener
    self.down = down
  }

  override func requested(_ demand: Subscribers.Demand) {
    self.demand += demand
    accept()
  }

  /// Accepts waiting connections on demand.
  func accept() {
    guard !isAccepting else { return }
    isAccepting = true
    while demand > .none, let down, let connection = listener?.accept() {
      demand -= 1
      demand += down.receive(connection)
    }
    isAccepting = false
  }

  override func tell(_ facts: inout StreamFacts) {
    facts.delivers(to: down)
    // A listener that waits for clients isn't stuck, so don't report demand that it can't serve.
    if demand == .none { facts.demand = demand }
    facts.isOver = down == nil
  }

  deinit { _ = release() }

  func end() { release()?.receive(completion: .finished) }

  override func cancelled() {
    _ = release()
  }

  private func release() -> ErasedSubscriber<Connection, Never>? {
    let listener = self.listener.take()
    listener?.subscription = nil
    return down.take()
  }
}
