internal import FeedHTTPServer
public import FeedStream

/// One side of a WebSocket connection: messages from the peer, and messages to it (RFC 6455).
///
///     socket.messages                        // an echo
///       .write(to: socket)
///
/// A socket replies to pings, and sends its own pings when the peer is silent. The streams that read from a socket or
/// write to it retain it; a server's socket is retained until it is closed. Releasing a socket closes it. Use it on its
/// scheduler's thread.
public final class WebSocket {
  enum State {
    case open
    /// A close frame has been sent or is about to be; the socket waits for the peer's close frame.
    case closing
    /// The peer has closed, or has violated the protocol; a close frame is being written.
    case ending
    /// Nothing more is written; the socket waits for the connection to end, and discards further bytes.
    case lingering
    case closed
  }

  /// The peer's address.
  public let peer: SocketAddress
  /// The subprotocol that both sides have agreed on.
  public let subprotocol: String?
  /// True if messages may be compressed.
  public let isCompressed: Bool
  /// The peer's close frame; `nil` until it has arrived.
  public internal(set) var received: WebSocketClose?
  /// True once messages can no longer be sent.
  public var isClosed: Bool { state != .open }

  let scheduler: any LoopScheduler
  let limits: WebSocketLimits
  let isServer: Bool
  let connection: Connection
  let channel: any ByteChannel
  /// Lets this socket close the connection in the server that owns it.
  let upgraded: UpgradedConnection?
  @exclusivity(unchecked) var state = State.open

  // Reading.
  @exclusivity(unchecked) var reader: MessageReader
  @exclusivity(unchecked) weak var subscription: PullSubscription<WebSocketMessage, WebSocketError>?
  @exclusivity(unchecked) var isReading = false
  @exclusivity(unchecked) var isPumping = false
  /// True if a message waits for demand.
  @exclusivity(unchecked) var isHeld = false
  /// True if unread frames wait until the replies to pings are written.
  @exclusivity(unchecked) var isBlocked = false
  /// The completion of the messages, if there was one.
  @exclusivity(unchecked) var completion: Subscribers.Completion<WebSocketError>?
  @exclusivity(unchecked) var discardedBytes = 0

  // Writing.
  let deflating: DeflateContext?
  let masks: MaskMaker?
  @exclusivity(unchecked) var queue: [Item] = []
  @exclusivity(unchecked) var current: OutgoingMessage?
  @exclusivity(unchecked) var controls: [Chunk] = []
  /// The number of bytes in `controls`.
  @exclusivity(unchecked) var queuedControlBytes = 0
  /// The number of bytes of control frames that aren't written yet.
  @exclusivity(unchecked) var controlBytes = 0
  @exclusivity(unchecked) var out: [Chunk] = []
  @exclusivity(unchecked) var outBytes = 0
  @exclusivity(unchecked) var isWriting = false
  @exclusivity(unchecked) var isFlushing = false
  @exclusivity(unchecked) var encodedBytes = 0
  @exclusivity(unchecked) var writtenBytes = 0
  @exclusivity(unchecked) var marks: [(at: Int, action: (_ isWritten: Bool) -> Void)] = []
  /// True if accepted messages were dropped.
  @exclusivity(unchecked) var hasForgotten = false
  @exclusivity(unchecked) var writers: [Writer] = []

  // Time.
  @exclusivity(unchecked) var alarm: (any Cancellable)?
  @exclusivity(unchecked) var alarmAt: StreamInstant?
  @exclusivity(unchecked) var lastHeard: StreamInstant
  @exclusivity(unchecked) var pingSent: StreamInstant?
  @exclusivity(unchecked) var writeBegan: StreamInstant?
  @exclusivity(unchecked) var batchBytes = 0
  @exclusivity(unchecked) var closeBegan: StreamInstant?

  /// A self-reference from the first step of closing to the last, because nothing else may retain the socket during
  /// that time.
  @exclusivity(unchecked) private var itself: WebSocket?
  /// The result of a server's handler, retained until the socket is closed.
  @exclusivity(unchecked) var kept: AnyCancellable?

  init(
    _ connection: Connection, isServer: Bool, _ agreed: Agreement, limits: WebSocketLimits,
    compression: WebSocketCompression?, upgraded: UpgradedConnection? = nil, on scheduler: any LoopScheduler
  ) {
    limits.check()
    self.connection = connection
    self.isServer = isServer
    self.limits = limits
    self.upgraded = upgraded
    self.scheduler = scheduler
    peer = connection.peer
    channel = connection.channel
    subprotocol = agreed.subprotocol
    isCompressed = agreed.deflate != nil
    reader = MessageReader(isServer: isServer, limits: limits, compression: agreed.deflate)
    if let terms = agreed.deflate, let compression {
      deflating = DeflateContext(terms, compression, isServer: isServer)
    } else {
      deflating = nil
    }
    masks = isServer ? nil : MaskMaker(scheduler)
    lastHeard = scheduler.now
  }

  deinit {
    guard state != .closed else { return }
    alarm?.cancel()
    // Nobody waits for the peer's close frame.
    if !isWriting, out.isEmpty {
      channel.write([Frames.close(WebSocketClose(.goingAway), mask: masks?.next())]) { _ in }
    }
    if let upgraded { upgraded.close() } else { connection.close() }
  }

  /// Starts reading, beginning with the bytes that came with the handshake.
  func start(_ early: Chunk) {
    watch()
    if !early.isEmpty { reader.feed(early) }
    pump()
  }

  /// Sends a close frame after the waiting messages, and closes the connection when the peer replies or the limits'
  /// `closeDeadline` has passed. The messages are dropped if the peer doesn't read: if one write takes longer than the
  /// limits' `writeGrace` and a second per 64 KiB.
  ///
  /// Messages that arrive after that are discarded. Closing again does nothing.
  ///
  /// - Parameters:
  ///   - code: the reason, as a number.
  ///   - reason: the reason as text, which the peer may log: at most 123 bytes of UTF-8; longer text is truncated.
  public func close(_ code: WebSocketCloseCode = .normal, reason: String = "") {
    guard state == .open else { return }
    state = .closing
    itself = self
    var short = reason
    while short.utf8.count > 123 { short.removeLast() }
    queue.append(.close(WebSocketClose(code, short)))
    isHeld = false
    // The time for the running write begins again, because it was longer until now.
    if isWriting { writeBegan = scheduler.now }
    endWriters(.failure(.closed))
    watch()
    fill()
    flush()
    pump()
  }

  // MARK: Ending

  /// Called when the peer has violated the protocol: the peer gets a close frame, and nothing more is read.
  func fail(_ failure: ProtocolFailure) {
    end(
      .failure(.protocolBroken(failure.code, reason: "\(failure)")),
      answering: WebSocketClose(failure.code, "\(failure)"))
  }

  /// Called when the peer has closed the socket.
  func closed(by close: WebSocketClose) {
    received = close
    let completion = state == .closing ? .finished : close.completion
    end(completion, answering: state == .closing ? nil : WebSocketClose(close.code))
  }

  /// Sends a last frame, unless one is already being sent, then closes the connection.
  private func end(_ completion: Subscribers.Completion<WebSocketError>, answering close: WebSocketClose?) {
    guard state == .open || state == .closing else { return }
    let wasClosing = state == .closing
    state = .ending
    itself = self
    closeBegan = scheduler.now
    // Messages whose sending has not begun are dropped.
    var dropped: [Item] = []
    if !wasClosing {
      dropped = queue
      queue = close.map { [.close($0)] } ?? []
    } else if close != nil {
      dropped = queue.filter { if case .close = $0 { false } else { true } }
      queue = queue.filter { if case .close = $0 { true } else { false } }
    }
    forget(dropped)
    // The messages complete first, so that an echo has nothing left to write.
    endMessages(completion)
    endWriters(.failure(.closed))
    watch()
    fill()
    flush()
  }

  /// Called when everything is written, including the close frame.
  func lingerIfWritten() {
    guard state == .ending, !isWriting, out.isEmpty, queue.isEmpty, current == nil, controls.isEmpty else { return }
    state = .lingering
    // Closing with unread bytes would reset the connection, and the close frame might be lost. A client waits for the
    // server, which closes first (RFC 6455, 7.1.1).
    if isServer { channel.endWriting { [weak self] error in if error != nil { self?.drop(.finished) } } }
    updateReading()
  }

  /// Closes the connection immediately.
  func drop(_ completion: Subscribers.Completion<WebSocketError>) {
    guard state != .closed else { return }
    // The frames that waited for pongs to be written have arrived, too.
    if state == .open, isBlocked { isHeld = true }
    isBlocked = false
    state = .closed
    let itself = self.itself
    self.itself = nil
    defer { withExtendedLifetime(itself) {} }
    alarm?.cancel()
    alarm = nil
    let dropped = queue
    if current != nil || outBytes > 0 { hasForgotten = true }
    (queue, current, controls, out) = ([], nil, [], [])
    let (kept, marks) = (self.kept, self.marks)
    self.kept = nil
    self.marks = []
    if let upgraded { upgraded.close() } else { connection.close() }
    if isHeld, subscription != nil, completion != .finished {
      // The messages that wait come first.
      self.completion = completion
      pump()
    } else {
      if subscription != nil { isHeld = false }
      endMessages(completion)
    }
    endWriters(completion == .finished ? .failure(.closed) : completion)
    for mark in marks { mark.action(false) }
    forget(dropped)
    kept?.cancel()
  }

  /// True for an error with which the socket itself has ended.
  func hasFailed(with error: any Error) -> Bool {
    guard let error = error as? WebSocketError else { return false }
    if case .failure(let own)? = completion, own == error { return true }
    return error == .closed && isClosed
  }

  private func endMessages(_ completion: Subscribers.Completion<WebSocketError>) {
    guard self.completion == nil else { return }
    self.completion = completion
    let subscription = self.subscription
    self.subscription = nil
    subscription?.end(completion)
  }

  private func endWriters(_ completion: Subscribers.Completion<WebSocketError>) {
    // Retained until all are informed, because one may release another.
    let writers = self.writers.map(\.writer)
    self.writers = []
    for writer in writers { writer.socketEnded(completion) }
  }
}

/// The result of a handshake.
struct Agreement {
  var subprotocol: String?
  var deflate: DeflateTerms?
}

extension WebSocketClose {
  /// The completion of the messages of a socket that the peer closes with this frame.
  var completion: Subscribers.Completion<WebSocketError> { isNormal ? .finished : .failure(.closedByPeer(self)) }
}
