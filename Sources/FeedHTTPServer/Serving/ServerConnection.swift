internal import FeedStream

/// One connection of a server: reads requests, delivers them one at a time, and writes their responses.
///
/// It owns its channel. All events go through ``process()``, which continues as far as bytes, demand and space allow,
/// and then writes everything in one call.
///
/// Its properties are not checked for exclusive access, which would take a tenth of the time of a short request. No
/// other code runs while a property is changed.
final class ServerConnection: RequestConnection, ResponseConnection {
  enum Phase {
    /// The server is waiting for a head, or one has begun to arrive.
    case head
    /// A request has been delivered; its body may be arriving, and its response may be in transit.
    case exchange
    /// The last response is being written.
    case closing
    /// The server has ended its side; bytes that the client still sends are discarded.
    case lingering
    /// The connection has switched to a different protocol, and other code reads from it and writes to it.
    case upgraded
    case closed
  }

  // `unsafe` is correct here: a closed connection doesn't use its server, and a server closes its connections before it
  // is released, in its `deinit`, where a checked reference would trap.
  unowned(unsafe) let server: HTTPServer
  let limits: HTTPServerLimits
  /// The server's. Stored here, it is used without a retain.
  let scheduler: any LoopScheduler
  let connection: Connection
  let channel: any ByteChannel
  /// The key by which the client's connections are counted; `nil` if they are not limited.
  let client: String?
  /// The index of this connection in the server.
  @exclusivity(unchecked) var index = 0
  @exclusivity(unchecked) var phase = Phase.head
  /// The number of the current request.
  @exclusivity(unchecked) var number = 0
  /// True if the connection was accepted while the server was shutting down.
  @exclusivity(unchecked) var isLate = false

  // Reading.
  @exclusivity(unchecked) var parser: HeadParser
  /// Bytes that have arrived and are not parsed yet.
  @exclusivity(unchecked) var input = Chunk()
  @exclusivity(unchecked) var inputHasEnded = false
  @exclusivity(unchecked) var isReading = false
  @exclusivity(unchecked) var deliver: ((ReadResult) -> Void)!

  // The request.
  @exclusivity(unchecked) var body = BodyState.none
  /// The maximum number of bytes in the body.
  @exclusivity(unchecked) var bodyLimit = 0
  @exclusivity(unchecked) var reader: BodyReader?
  @exclusivity(unchecked) var isBodyTaken = false
  @exclusivity(unchecked) var isDraining = false
  /// The head of the request that is being served.
  @exclusivity(unchecked) var received: RequestHead?

  // The response.
  /// The work that determines the response.
  @exclusivity(unchecked) var deciding: AnyCancellable?
  @exclusivity(unchecked) var isResponding = false
  @exclusivity(unchecked) var hasResponded = false
  @exclusivity(unchecked) var willClose = false
  /// True if only the end of the connection ends the body, which isn't endless.
  @exclusivity(unchecked) var closingEndsBody = false
  /// True if the body ended too early.
  @exclusivity(unchecked) var isCutOff = false
  @exclusivity(unchecked) var source: (any ResponseSource)?

  // Writing.
  @exclusivity(unchecked) var out: [Chunk] = []
  /// The number of bytes that are waiting or being written.
  @exclusivity(unchecked) var outBytes = 0
  @exclusivity(unchecked) var batchBytes = 0
  @exclusivity(unchecked) var isWriting = false
  /// True once the client has been told that nothing more is written.
  @exclusivity(unchecked) var hasEndedWriting = false
  /// The memory of long bodies waiting to be written.
  @exclusivity(unchecked) var held: [ObjectIdentifier] = []
  @exclusivity(unchecked) var hasWritten: ((SystemError?) -> Void)!
  @exclusivity(unchecked) var isProcessing = false

  // Time, in ticks.
  @exclusivity(unchecked) var ticks = 0
  @exclusivity(unchecked) var writeTicks = 0
  /// The number of bytes read from a body, or while lingering.
  @exclusivity(unchecked) var countedBytes = 0

  init(_ connection: Connection, _ server: HTTPServer, _ client: String?) {
    self.connection = connection
    self.client = client
    self.server = server
    scheduler = server.scheduler
    channel = connection.channel
    limits = server.limits
    parser = HeadParser(server.limits)
  }

  var peer: SocketAddress { connection.peer }
  var now: StreamInstant { scheduler.now }
  var hasRoom: Bool { outBytes < limits.bufferedBytes }
  var isWaitingForRequest: Bool { phase == .head && parser.state.isUntouched && outBytes == 0 && !isWriting }
  func isCurrent(_ number: Int) -> Bool { number == self.number && phase == .exchange }

  func start() {
    // Unowned: the channel releases both closures when it is closed, and the server retains this connection until then.
    deliver = { [unowned self] in receive($0) }
    hasWritten = { [unowned self] in wrote($0) }
    updateReading()
  }

  // MARK: Reading

  func receive(_ result: ReadResult) {
    switch result {
    case .chunk(let chunk):
      if phase == .lingering {
        countedBytes += chunk.count
        if countedBytes > limits.lingerBytes { close() }
        return
      }
      input = input.isEmpty ? chunk : Chunk(joining: [input, chunk])
    case .end:
      isReading = false
      inputHasEnded = true
      if phase == .lingering {
        // Otherwise, the end is still being written.
        if hasEndedWriting || !channel.endsWithBytes { close() }
        return
      }
      // If the response is endless, the client is gone; otherwise, the client may still be waiting for the response.
      if source?.isEndless == true { return close() }
    case .failure: return close()
    }
    process()
  }

  /// Starts or stops reading from the channel, as needed.
  func updateReading() {
    let wants =
      switch phase {
      case .head: hasRoom && input.isEmpty
      case .exchange: wantsBody || input.count < limits.readAheadBytes
      case .lingering: true
      case .closing, .upgraded, .closed: false
      }
    let isWanted = wants && !inputHasEnded
    guard isWanted != isReading, phase != .closed, phase != .upgraded else { return }
    isReading = isWanted
    if isWanted { channel.startReading(deliver) } else { channel.stopReading() }
  }

  // MARK: Processing

  /// Continues as far as possible, then writes and reads as needed.
  func process() {
    guard !isProcessing, phase != .closed else { return }
    repeat {
      isProcessing = true
      while advance() {}
      isProcessing = false
      flush()
      // A request that was waiting for space to write may have it now.
    } while phase == .head && !input.isEmpty && hasRoom
    // A few remaining bytes must not retain a large block of memory.
    if !input.isEmpty { input = input.compacted() }
    // The head of a request whose response is pending or endless must not retain a large block either.
    if let received { received.bytes = received.bytes.compacted() }
    updateReading()
  }

  /// - Returns: true if there may be more to do.
  func advance() -> Bool {
    switch phase {
    case .head: advanceHead()
    case .exchange: pumpBody() || completeExchange()
    case .closing, .lingering, .upgraded, .closed: false
    }
  }

  func advanceHead() -> Bool {
    guard hasRoom else { return false }
    guard !input.isEmpty else {
      // When the time for another request is over, close even if empty lines have arrived: they don't begin a request.
      if inputHasEnded || parser.state.isUntouched && mayNotWait { beginClosing() }
      return false
    }
    if parser.state.isUntouched { ticks = 0 }
    switch parser.feed(input) {
    case .incomplete:
      input = Chunk()
      return true
    case .failure(let failure):
      refuse(failure)
      return false
    case .complete(let consumed):
      input = consumed == input.count ? Chunk() : input[consumed..<input.count]
      begin(parser.head)
      return true
    }
  }

  func begin(_ head: RequestHead) {
    phase = .exchange
    number += 1
    (ticks, countedBytes) = (0, 0)
    received = head
    parser.reset()
    (isBodyTaken, isDraining, isResponding, hasResponded, willClose) = (false, false, false, false, !head.keepsAlive)
    bodyLimit = limits.bodyBytes
    if head.framing != .none, let find = server.bodyBytes {
      bodyLimit = find(head.method, head.text(head.path)) ?? limits.bodyBytes
    }
    switch head.framing {
    case .none: body = .none
    case .length(let length):
      guard length <= bodyLimit else { return refuse(ParseFailure(.contentTooLarge, "the body is too large")) }
      body = .length(length)
    case .chunked: body = .chunked(ChunkedDecoder(limits, bodyBytes: bodyLimit))
    }
    // Only CONNECT has this form.
    if head.form == .authority { return refuse(ParseFailure(.notImplemented, "this server is not a proxy")) }
    server.deliver(ServerRequest(Exchange(head, self, number)))
  }

  /// Completes the request when its response has been written and its body has been read; the next request may then
  /// begin.
  func completeExchange() -> Bool {
    guard hasResponded, phase == .exchange else { return false }
    if !body.isOver {
      reader.take()?.end(.failure(.responded))
      // The subscriber may have closed the connection, or released the server.
      guard phase == .exchange else { return false }
      guard !willClose, canDrain else {
        beginClosing()
        return false
      }
      guard !isDraining else { return false }
      (isDraining, countedBytes, ticks) = (true, 0, 0)
      return true
    }
    reader.take()?.end(.finished)
    guard phase == .exchange else { return false }
    received = nil
    // The response may have begun before the server began to shut down.
    guard !willClose, !server.closesIdle || !input.isEmpty else {
      beginClosing()
      return false
    }
    (phase, ticks) = (.head, 0)
    return true
  }

  /// True if the server is shutting down, and there is no more time for another request.
  var mayNotWait: Bool { server.closesIdle && (number > 0 || !isLate || server.closesUnused) }
}
