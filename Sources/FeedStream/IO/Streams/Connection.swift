/// A connection to another program, which carries bytes in both directions.
///
///     connection.bytes                       // an echo, line by line
///       .lines()
///       .map { Chunk($0 + "\n") }
///       .write(to: connection)
///
/// Streams that read from or write to the connection retain it. The connection closes when it is released and the last
/// of these streams has ended. Use a connection only on its scheduler's thread.
public final class Connection {
  /// The peer's address.
  public let peer: SocketAddress
  package let channel: any ByteChannel
  var users = EndpointUsers()
  /// True once the connection is closed.
  public var isClosed: Bool { users.isClosed }

  /// An object that the connection retains.
  private let owner: AnyObject?

  package init(_ channel: any ByteChannel, to peer: SocketAddress, keeping owner: AnyObject? = nil) {
    self.channel = channel
    self.peer = peer
    self.owner = owner
  }

  deinit { close() }

  /// The bytes from the peer, one chunk per read; finishes when the peer closes its sending side.
  ///
  /// **Demand:** without demand, nothing is read, and the peer has to wait as soon as the system's buffers are full.
  /// **Failure:** the system's error; `EBUSY` for a second simultaneous subscriber. **Cancellation:** stops reading;
  /// the connection stays open, and another subscriber may continue where this one stopped. **Policy:** holds nothing.
  public var bytes: Publishers.ConnectionBytes { Publishers.ConnectionBytes(connection: self) }

  /// Reserves both directions for a layer above: no other code can read from or write to the connection anymore.
  package func claim() throws(SystemError) {
    guard !users.isRead, !users.isWritten, !isClosed else {
      throw SystemError("take over", "\(peer)", code: isClosed ? Errno.closed : Errno.busy)
    }
    users.isRead = true
    users.isWritten = true
  }

  /// Closes both directions. Bytes that are being written may not arrive, and streams that read from or write to the
  /// connection fail with `ECANCELED`.
  public func close() { close { channel.close() } }
}

extension Publishers {
  /// See ``Connection/bytes``.
  public struct ConnectionBytes: Publisher, _DeliversAtHome {
    public typealias Output = Chunk
    public typealias Failure = SystemError

    let connection: Connection

    public func receive<S: Subscriber>(subscriber: S) where S.Input == Chunk, S.Failure == SystemError {
      connection.deliver(to: subscriber)
    }
  }
}

extension Connection: Endpoint {
  typealias Arrival = Chunk

  var name: String { "\(peer)" }
  var readerEnding: Subscribers.Completion<SystemError> {
    .failure(SystemError("read from", name, code: Errno.cancelled))
  }

  func startReading(for reader: EndpointReader<Connection>) {
    // Unowned, because the reader stops reading before it is released.
    channel.startReading { [unowned reader] result in
      switch result {
      case .chunk(let chunk): reader.receive(chunk)
      case .end: reader.end(.finished)
      case .failure(let error): reader.end(.failure(error))
      }
    }
  }

  func stopReading() { channel.stopReading() }
}
