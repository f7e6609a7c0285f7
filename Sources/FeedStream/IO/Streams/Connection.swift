/// A connection to another program: bytes from it, and bytes to it.
///
///     connection.bytes                       // an echo, line by line
///       .lines()
///       .map { Chunk($0 + "\n") }
///       .write(to: connection)
///
/// It is kept by the streams that read and write it, and closes with the last of them, when it is released. Lives on
/// its scheduler's thread.
public final class Connection {
  /// The other side.
  public let peer: SocketAddress
  package let channel: any ByteChannel
  fileprivate(set) var isRead = false
  var isWritten = false
  /// True once it is closed: nothing is read or written any more.
  public private(set) var isClosed = false

  /// What lives as long as this is used.
  private let owner: AnyObject?

  package init(_ channel: any ByteChannel, to peer: SocketAddress, keeping owner: AnyObject? = nil) {
    self.channel = channel
    self.peer = peer
    self.owner = owner
  }

  deinit { close() }

  /// What the other side sends, a chunk for each read; finishes when it says that it writes no more.
  ///
  /// **Demand:** without demand nothing is read, and the other side has to wait as soon as the system's buffers are
  /// full. **Failure:** the system's reason; also for a second subscriber while one reads. **Cancellation:** stops
  /// reading; the connection stays open, and another subscriber may go on where this one stopped. **Policy:** holds
  /// nothing.
  public var bytes: Publishers.ConnectionBytes { Publishers.ConnectionBytes(connection: self) }

  /// Takes both directions for a layer above this: nobody else may read or write it any more.
  package func claim() throws(SystemError) {
    guard !isRead, !isWritten, !isClosed else {
      throw SystemError("take over", "\(peer)", code: isClosed ? Errno.closed : Errno.busy)
    }
    isRead = true
    isWritten = true
  }

  /// Closes both directions; what is being written may not arrive, and streams that read it end with `ECANCELED`.
  public func close() {
    guard !isClosed else { return }
    isClosed = true
    channel.close()
    onClose.take()?()
  }

  /// The reader's, told when this is closed under it.
  fileprivate var onClose: (() -> Void)?
}

extension Publishers {
  /// See ``Connection/bytes``.
  public struct ConnectionBytes: Publisher {
    public typealias Output = Chunk
    public typealias Failure = SystemError

    let connection: Connection

    public func receive<S: Subscriber>(subscriber: S) where S.Input == Chunk, S.Failure == SystemError {
      guard !connection.isRead, !connection.isClosed else {
        let code = connection.isClosed ? Errno.closed : Errno.busy
        return Fail(error: SystemError("read from", "\(connection.peer)", code: code)).receive(subscriber: subscriber)
      }
      subscriber.receive(subscription: ReadingSubscription(connection, ErasedSubscriber(subscriber)))
    }
  }
}

/// One subscriber of a connection's bytes.
private final class ReadingSubscription: GuardedSubscription {
  private var down: ErasedSubscriber<Chunk, SystemError>?
  private var connection: Connection?
  private var demand = Subscribers.Demand.none
  private var isReading = false

  init(_ connection: Connection, _ down: ErasedSubscriber<Chunk, SystemError>) {
    self.connection = connection
    self.down = down
    super.init()
    connection.isRead = true
    connection.onClose = { [unowned self, unowned connection] in
      end(.failure(SystemError("read from", "\(connection.peer)", code: Errno.cancelled)))
    }
  }

  override func requested(_ demand: Subscribers.Demand) {
    self.demand += demand
    guard !isReading, let connection else { return }
    isReading = true
    // Unowned: the channel is the connection's, and forgets this when reading stops.
    connection.channel.startReading { [unowned self] in receive($0) }
  }

  private func receive(_ result: ReadResult) {
    switch result {
    case .chunk(let chunk):
      // The subscriber may cancel, and with that be released.
      guard let down else { return }
      demand -= 1
      demand += down.receive(chunk)
      if demand == .none { pause() }
    case .end: end(.finished)
    case .failure(let error): end(.failure(error))
    }
  }

  private func pause() {
    guard isReading else { return }
    isReading = false
    connection?.channel.stopReading()
  }

  private func end(_ completion: Subscribers.Completion<SystemError>) {
    let down = release()
    down?.receive(completion: completion)
  }

  deinit { _ = release() }

  override func cancelled() {
    _ = release()
  }

  private func release() -> ErasedSubscriber<Chunk, SystemError>? {
    pause()
    let (down, connection) = (down.take(), connection.take())
    connection?.onClose = nil
    connection?.isRead = false
    return down
  }
}
