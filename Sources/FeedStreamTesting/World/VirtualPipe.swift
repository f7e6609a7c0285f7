import FeedStream

/// One direction of a connection in virtual time.
final class VirtualPipe {
  // Weak, because the last user may be released after the scheduler.
  private weak var time: VirtualTimeScheduler?
  private let name: String
  private let link: VirtualInternet.Link
  /// The number of bytes that still arrive before the connection is lost. `onLoss` is then called.
  private var lostAfter: Int?
  var onLoss: (() -> Void)?

  // The writer's side.
  private var pending: [Chunk] = []
  private var done: ((SystemError?) -> Void)?
  private var ending: ((SystemError?) -> Void)?
  private var hasEnded = false
  private var failure: Int32?
  /// The time at which all bytes written so far will have been sent.
  private var freeAt: StreamInstant

  // The chunks in transit, and those that have arrived.
  private var travelling: [(at: StreamInstant, chunk: Chunk?)] = []
  private var arrived: [Chunk] = []
  /// The number of bytes that are in transit or have arrived.
  private var held = 0
  private var arrival: (any Cancellable)?
  private var callBack: (any Cancellable)?

  // The reader's side.
  private var deliver: ((ReadResult) -> Void)?
  private var isReading = false
  private var isOver = false
  private var isReaderGone = false
  private var turn: (any Cancellable)?
  private var readFailure: Int32?

  init(_ time: VirtualTimeScheduler, _ name: String, _ link: VirtualInternet.Link, lostAfter: Int?) {
    self.time = time
    self.name = name
    self.link = link
    self.lostAfter = lostAfter
    freeAt = time.now
  }

  // MARK: Writing

  func write(_ chunks: [Chunk], _ done: @escaping (SystemError?) -> Void) {
    pending = chunks.filter { !$0.isEmpty }
    self.done = done
    pump()
  }

  func endWriting(_ done: @escaping (SystemError?) -> Void) {
    ending = done
    pump()
  }

  private func pump() {
    if let failure {
      if done != nil || ending != nil { answer(SystemError("write to", name, code: failure)) }
      return
    }
    precondition(
      link.buffer > 0, "VirtualInternet.Link: a buffer of \(link.buffer) bytes carries nothing; use 1 or more")
    while let chunk = pending.first, held < link.buffer {
      let piece = chunk.prefix(min(max(link.segment, 1), link.buffer - held))
      pending[0] = chunk.dropFirst(piece.count)
      if pending[0].isEmpty { pending.removeFirst() }
      send(piece)
    }
    guard pending.isEmpty else { return }
    if done != nil { answer(nil) }
    if ending != nil, !hasEnded {
      hasEnded = true
      send(nil)
      answer(nil)
    }
  }

  /// Calls the writer back asynchronously.
  private func answer(_ error: SystemError?) {
    let isWrite = done != nil
    guard callBack == nil, let time else { return }
    callBack = time.after(.zero, "a write to \(name)") { [self] in
      callBack = nil
      let answer = isWrite ? done.take() : ending.take()
      answer?(error)
      if done != nil || ending != nil { pump() }
    }
  }

  private func send(_ chunk: Chunk?) {
    guard let time else { return }
    let begin = max(time.now, freeAt)
    let count = chunk?.count ?? 0
    held += count
    freeAt = begin.advanced(by: link.time(for: count))
    travelling.append((freeAt.advanced(by: link.latency), chunk))
    awaitArrival()
  }

  /// Called when the peer has closed its end: later writes fail.
  func readerIsGone() {
    isReaderGone = true
    stopReading()
    deliver = nil
    arrived = []
    for work in [arrival.take(), turn.take()] { work?.cancel() }
    travelling = []
    held = 0
    failure = failure ?? 32  // EPIPE
    pump()
  }

  /// Called when the writer has closed its end: its callbacks are dropped. Bytes that were written still arrive,
  /// followed by the end of the stream.
  func writerIsGone() {
    done = nil
    ending = nil
    callBack.take()?.cancel()
    pending = []
    guard !hasEnded, failure == nil else { return }
    hasEnded = true
    if !isReaderGone { send(nil) }
  }

  /// True if bytes have arrived that were not read.
  var hasUnread: Bool { !arrived.isEmpty }

  /// Called when the writer has closed its end without reading all that it was sent: the bytes in transit are lost, and
  /// the reader fails after those that have arrived.
  func reset() {
    writerIsGone()
    if !isOver { lose(104) }  // ECONNRESET
  }

  /// Called when the connection is lost, with all bytes in transit.
  func lose(_ code: Int32) {
    guard failure == nil || readFailure == nil else { return }
    failure = code
    readFailure = code
    travelling = []
    arrival.take()?.cancel()
    pending = []
    pump()
    deliverSoon()
  }

  // MARK: Arriving

  private func awaitArrival() {
    guard arrival == nil, let next = travelling.first, let time else { return }
    arrival = time.alarm(at: max(next.at, time.now), OriginNote(named: "bytes for \(name)")) { [self] in
      arrival = nil
      let (_, chunk) = travelling.removeFirst()
      if let chunk { arrive(chunk) } else { isOver = true }
      deliverNow()
      awaitArrival()
    }
  }

  private func arrive(_ chunk: Chunk) {
    guard let left = lostAfter, chunk.count >= left else {
      lostAfter? -= chunk.count
      return arrived.append(chunk)
    }
    lostAfter = nil
    arrived.append(chunk.prefix(left))
    onLoss.take()?()
  }

  // MARK: Reading

  func startReading(_ deliver: @escaping (ReadResult) -> Void) {
    self.deliver = deliver
    isReading = true
    deliverSoon()
  }

  func stopReading() { isReading = false }

  private func deliverSoon() {
    guard turn == nil, isReading, !arrived.isEmpty || isOver || readFailure != nil else { return }
    turn = time?.after(.zero, "bytes for \(name)") { [self] in
      turn = nil
      deliverNow()
    }
  }

  private func deliverNow() {
    while isReading, let deliver {
      if !arrived.isEmpty {
        let chunk = arrived.removeFirst()
        held -= chunk.count
        if !chunk.isEmpty { deliver(.chunk(chunk)) }
        pump()
      } else if let readFailure {
        end(.failure(SystemError("read from", name, code: readFailure)))
      } else if isOver {
        end(.end)
      } else {
        return
      }
    }
  }

  private func end(_ result: ReadResult) {
    isReading = false
    deliver.take()?(result)
  }
}

/// Both directions of a connection in virtual time, as one side sees them.
final class VirtualChannel: ByteChannel {
  let peer: SocketAddress
  private let incoming: VirtualPipe
  private let outgoing: VirtualPipe
  private let isSocket: Bool
  private var isClosed = false

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

  func write(_ chunks: [Chunk], _ done: @escaping (SystemError?) -> Void) {
    if !isClosed { outgoing.write(chunks, done) }
  }

  func endWriting(_ done: @escaping (SystemError?) -> Void) {
    if !isClosed { outgoing.endWriting(done) }
  }

  /// Breaks the connection: both sides fail.
  func lose(_ code: Int32) { for pipe in [incoming, outgoing] { pipe.lose(code) } }

  func close() {
    guard !isClosed else { return }
    isClosed = true
    if isSocket, incoming.hasUnread { outgoing.reset() } else { outgoing.writerIsGone() }
    incoming.readerIsGone()
  }
}
