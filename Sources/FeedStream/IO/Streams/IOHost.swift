/// A scheduler with an outside world: the operating system's for an ``EventLoop``, a simulated one for virtual time.
///
/// Types that open connections take `any LoopScheduler` and use its world, so that the same server or client runs in
/// both.
package protocol IOHost: FileHost {
  /// Starts listening on `address`.
  func listen(at address: SocketAddress, backlog: Int, port: PortSharing) throws(SystemError) -> any ListeningSocket

  /// Connects to one address.
  ///
  /// - Parameter done: called once, asynchronously, unless the attempt is cancelled first.
  func connect(
    to address: SocketAddress, _ done: @escaping (Result<any ByteChannel, SystemError>) -> Void
  ) -> any Cancellable

  /// Looks up the addresses of a host.
  ///
  /// - Parameter done: called once, asynchronously, unless the lookup is cancelled first.
  func lookUp(
    _ host: String, port: Int, _ done: @escaping (Result<[SocketAddress], SystemError>) -> Void
  ) -> any Cancellable

  /// Opens a datagram socket.
  func openDatagrams(at address: SocketAddress) throws(SystemError) -> any DatagramPort

  /// Calls `announce` for each change to an entry in a folder, until cancelled.
  func watch(_ folder: String, _ announce: @escaping (FolderHint) -> Void) throws(SystemError) -> any Cancellable

  /// Starts a program.
  func spawn(_ subprocess: Subprocess) throws(SystemError) -> any ChildProcess

  /// Opens a standard stream of the process.
  func standardStream(_ number: Int32) throws(SystemError) -> StandardChannel

  /// Opens the process's controlling terminal.
  func openTerminal() throws(SystemError) -> any TerminalPort

  /// Calls `announce` whenever the process receives the signal, until cancelled.
  func watchSignal(
    _ number: Int32, keepsLoopAlive: Bool, _ announce: @escaping () -> Void
  ) throws(SystemError) -> any Cancellable

  /// A function that fills memory with random bytes.
  var randomBytes: ByteMaker { get }
}

/// Decides which other sockets may listen on the same address.
package enum PortSharing: Sendable {
  /// No other sockets.
  case alone
  /// No other sockets when this socket begins to listen; later, sockets that use ``shared``.
  case first
  /// Other sockets that also use ``shared``.
  case shared
}

/// One of the process's standard streams.
package enum StandardChannel {
  case channel(any ByteChannel)
  /// A descriptor that epoll doesn't support: a file or a device.
  case descriptor(Int32)
  case nothing
}

/// The system's hint about a change in a folder.
package struct FolderHint {
  package enum Kind {
    /// An entry appeared, vanished, or was renamed.
    case entry
    /// The content or the status of an entry changed.
    case content
  }

  /// The entry's name; `nil` if it is unknown, or for the folder itself.
  package var name: String?
  package var kind: Kind

  package init(name: String?, kind: Kind) {
    self.name = name
    self.kind = kind
  }
}

/// A socket that waits for connections.
package protocol ListeningSocket: AnyObject {
  /// The address on which the socket listens. If port 0 was requested, it contains the port that the system chose.
  var address: SocketAddress { get }
  /// Called when a connection is waiting, or when one could not be accepted.
  var onReady: (() -> Void)? { get set }
  /// True to keep the loop running while the socket listens.
  var keepsLoopAlive: Bool { get set }
  /// Accepts a waiting connection; `nil` if there is none.
  func accept() -> (any ByteChannel)?
  /// Ignores new connection attempts. Connections that are already being established still arrive.
  ///
  /// - Returns: false if that isn't possible.
  func ignoreNewConnections() -> Bool
  /// Stops listening. Idempotent.
  func close()
}

extension ListeningSocket {
  package func ignoreNewConnections() -> Bool { false }
}

extension LoopScheduler {
  /// The world of this scheduler.
  ///
  /// - Precondition: the scheduler is an ``EventLoop`` or virtual time.
  package func world(_ user: StaticString) -> any IOHost {
    guard let host = self as? any IOHost else {
      preconditionFailure("\(user): \(type(of: self)) has no network; use an EventLoop, or virtual time in a test")
    }
    return host
  }
}

/// A socket's address: an internet address, a path in the file system, or an inherited socket.
public struct SocketAddress: Hashable, Sendable, CustomStringConvertible {
  package enum Kind: Hashable, Sendable {
    case internet(host: String, port: Int)
    case unix(path: String)
    case inherited(Int32)
  }

  package let kind: Kind

  package init(_ kind: Kind) { self.kind = kind }

  /// - Parameters:
  ///   - host: a numeric address, such as `127.0.0.1` or `::1`.
  ///   - port: 0 to 65,535; with 0, the system chooses one for a listener.
  public static func internet(_ host: String, port: Int) -> SocketAddress { Self(.internet(host: host, port: port)) }

  /// A socket in the file system.
  public static func unix(_ path: String) -> SocketAddress { Self(.unix(path: path)) }

  /// The port of an internet address.
  public var port: Int? { if case .internet(_, let port) = kind { port } else { nil } }

  /// The numeric host of an internet address, without the port.
  public var host: String? { if case .internet(let host, _) = kind { host } else { nil } }

  /// The address as text: `127.0.0.1:80`, `[::1]:80`, a path, or `inherited socket 3`.
  public var description: String {
    switch kind {
    case .internet(let host, let port): host.utf8.contains(UInt8(ascii: ":")) ? "[\(host)]:\(port)" : "\(host):\(port)"
    case .unix(let path): path
    case .inherited(let descriptor): "inherited socket \(descriptor)"
    }
  }
}
