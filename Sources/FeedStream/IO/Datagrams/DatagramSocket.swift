/// A UDP datagram: bytes, and the address of their sender or recipient.
public struct Datagram: Hashable, Sendable {
  public var bytes: Chunk
  /// The peer's address.
  public var address: SocketAddress
  /// True if the datagram was truncated.
  public internal(set) var isCut: Bool

  public init(_ bytes: Chunk, to address: SocketAddress) { self.init(bytes, address, isCut: false) }

  package init(_ bytes: Chunk, _ address: SocketAddress, isCut: Bool) {
    self.bytes = bytes
    self.address = address
    self.isCut = isCut
  }
}

/// Sends datagrams from a local address, and receives those that are sent to it.
///
///     let socket = try DatagramSocket(at: .internet("0.0.0.0", port: 9999), on: loop)
///     let echo = socket.datagrams.write(to: socket)
///       .sink { print($0) } receiveValue: { _ in }
///
/// Losses: datagrams can be lost, duplicated or reordered; those that arrive without demand wait in the system's
/// buffer, and the system silently drops datagrams when the buffer is full. A socket closes when it is released. Use it
/// only on its scheduler's thread.
public final class DatagramSocket {
  let port: any DatagramPort
  var users = EndpointUsers()
  /// True once the socket is closed.
  public var isClosed: Bool { users.isClosed }

  /// The socket's address. If you requested port 0, this contains the port that the system chose.
  public var address: SocketAddress { port.address }

  /// - Parameters:
  ///   - address: an address of this machine; `0.0.0.0` or `::` for all addresses.
  ///   - scheduler: an ``EventLoop``, or virtual time in a test.
  /// - Throws: when the address is invalid, in use, or not permitted.
  public init(at address: SocketAddress, on scheduler: any LoopScheduler) throws(SystemError) {
    port = try scheduler.world("DatagramSocket").openDatagrams(at: address)
  }

  deinit { close() }

  /// The datagrams that arrive, one per requested value.
  ///
  /// **Demand:** without demand, nothing is read, and the system drops datagrams for which its buffer has no room.
  /// **Failure:** the system's error; `EBUSY` for a second simultaneous subscriber. **Cancellation:** stops reading;
  /// the socket stays open. **Policy:** holds nothing. Finishes when the socket is closed.
  public var datagrams: Publishers.Datagrams { Publishers.Datagrams(socket: self) }

  /// Closes the socket: a stream that reads from it finishes, and a stream that writes to it fails with `ECANCELED`.
  public func close() { close { port.close() } }
}

/// A datagram socket, on an event loop or in virtual time. Use it only on its scheduler's thread.
package protocol DatagramPort: AnyObject {
  var address: SocketAddress { get }

  /// Delivers arriving datagrams until ``stopReading()``, after which nothing is delivered.
  func startReading(_ deliver: @escaping (Result<Datagram, SystemError>) -> Void)
  func stopReading()

  /// Sends a datagram: immediately, or as soon as the system has room for it.
  ///
  /// - Parameter done: called once, later, unless the datagram was sent immediately or the socket is closed first.
  /// - Returns: true if the datagram was sent immediately.
  func send(_ datagram: Datagram, _ done: @escaping (SystemError?) -> Void) -> Bool

  /// Releases everything, and calls no closures afterwards. Idempotent.
  func close()
}

extension Publishers {
  /// See ``DatagramSocket/datagrams``.
  public struct Datagrams: Publisher, _DeliversAtHome {
    public typealias Output = Datagram
    public typealias Failure = SystemError

    let socket: DatagramSocket

    public func receive<S: Subscriber>(subscriber: S) where S.Input == Datagram, S.Failure == SystemError {
      socket.deliver(to: subscriber)
    }
  }
}

extension DatagramSocket: Endpoint {
  typealias Arrival = Datagram

  var name: String { "\(address)" }
  var readerEnding: Subscribers.Completion<SystemError> { .finished }

  func startReading(for reader: EndpointReader<DatagramSocket>) {
    // Unowned, because the reader stops reading before it is released.
    port.startReading { [unowned reader] result in
      switch result {
      case .success(let datagram): reader.receive(datagram)
      case .failure(let error): reader.end(.failure(error))
      }
    }
  }

  func stopReading() { port.stopReading() }
}
