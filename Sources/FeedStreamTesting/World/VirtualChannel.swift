import FeedStream

/// Both directions of a connection in virtual time, as one side sees them.
final class VirtualChannel: ByteChannel {
  let peer: SocketAddress
  private let incoming: VirtualPipe
  private let outgoing: VirtualPipe
  private let isSocket: Bool
  private(set) var isClosed = false
  private var breaksOff = false
  /// The users that read, if there can be several; the bytes go to the one that began last.
  private var readers: [(user: ObjectIdentifier, deliver: (ReadResult) -> Void)] = []

  private init(_ peer: SocketAddress, _ incoming: VirtualPipe, _ outgoing: VirtualPipe, isSocket: Bool) {
    self.peer = peer
    self.incoming = incoming
    self.outgoing = outgoing
    self.isSocket = isSocket
  }

  deinit { close() }

  /// Makes the two ends of a connection.
  ///
  /// - Parameter isSocket: true if closing an end resets the connection when bytes are unread there. Pipes have no such
  ///   resets.
  static func pair(
    _ time: VirtualTimeScheduler, client: SocketAddress, server: SocketAddress, _ link: VirtualInternet.Link,
    isSocket: Bool = false
  ) -> (client: VirtualChannel, server: VirtualChannel) {
    let up = VirtualPipe(time, "\(server)", link, lostAfter: link.lostAfterBytesUp)
    let down = VirtualPipe(time, "\(client)", link, lostAfter: link.lostAfterBytesDown)
    let lose = { [unowned up, unowned down] in
      for pipe in [up, down] { pipe.lose(104) }  // ECONNRESET
    }
    up.onLoss = lose
    down.onLoss = lose
    return (
      VirtualChannel(server, down, up, isSocket: isSocket), VirtualChannel(client, up, down, isSocket: isSocket)
    )
  }

  func startReading(_ deliver: @escaping (ReadResult) -> Void) {
    if !isClosed { incoming.startReading(deliver) }
  }

  func stopReading() { incoming.stopReading() }

  /// Reads for one of several users.
  func startReading(of user: ObjectIdentifier, _ deliver: @escaping (ReadResult) -> Void) {
    readers.removeAll { $0.user == user }
    readers.append((user, deliver))
    startReading(deliver)
  }

  /// Stops reading for a user: the bytes go to the one that began before it, if any.
  func stopReading(of user: ObjectIdentifier) {
    let wasLast = readers.last?.user == user
    readers.removeAll { $0.user == user }
    guard wasLast else { return }
    if let next = readers.last { startReading(next.deliver) } else { stopReading() }
  }

  func write(_ chunks: [Chunk], _ done: @escaping (SystemError?) -> Void) {
    if !isClosed { outgoing.write(chunks, done) }
  }

  /// Writes for one of several users; see ``dropWrites(of:)``.
  func write(_ chunks: [Chunk], of user: ObjectIdentifier, _ done: @escaping (SystemError?) -> Void) {
    if !isClosed { outgoing.write(chunks, of: user, done) }
  }

  /// Drops the bytes of a user that have not been accepted.
  func dropWrites(of user: ObjectIdentifier) { outgoing.dropWrites(of: user) }

  func endWriting(_ done: @escaping (SystemError?) -> Void) {
    if !isClosed { outgoing.endWriting(done) }
  }

  func breakOffAtClose() {
    // As in the system, a Unix socket isn't reset.
    if case .internet = peer.kind { breaksOff = isSocket }
  }

  /// Breaks the connection: both sides fail.
  func lose(_ code: Int32) { for pipe in [incoming, outgoing] { pipe.lose(code) } }

  func close() {
    guard !isClosed else { return }
    isClosed = true
    if breaksOff || isSocket && incoming.hasUnread { outgoing.reset() } else { outgoing.writerIsGone() }
    incoming.readerIsGone()
  }
}
