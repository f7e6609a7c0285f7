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
  private struct Write {
    var chunks = FIFO<Chunk>()
    let user: ObjectIdentifier?
    let done: (SystemError?) -> Void
  }

  /// The writes that wait for room. A cancelled publisher's write may still wait when the next publisher writes.
  private var waiting = FIFO<Write>()
  private var endings = FIFO<(SystemError?) -> Void>()
  /// The calls to the writer that are due, each in a turn of its own.
  private var reports = FIFO<() -> Void>()
  private var hasEnded = false
  /// The reason why writing fails, as the system's error number.
  private var code: Int32?
  /// The time at which all bytes written so far will have been sent.
  private var freeAt: StreamInstant

  private enum Parcel {
    case chunk(Chunk)
    case end
    case failure(Int32)
  }

  // What is in transit, and the chunks that have arrived.
  private var travelling = FIFO<(at: StreamInstant, parcel: Parcel)>()
  private var arrived = FIFO<Chunk>()
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

  /// - Parameter user: the user of the channel, if there are several; see ``dropWrites(of:)``.
  func write(_ chunks: [Chunk], of user: ObjectIdentifier? = nil, _ done: @escaping (SystemError?) -> Void) {
    // As in the system, nothing can be written after the end, even while the end waits for earlier writes.
    guard !hasEnded, endings.isEmpty else { return report(failure(32), to: done) }  // EPIPE
    var write = Write(user: user, done: done)
    for chunk in chunks where !chunk.isEmpty { write.chunks.append(chunk) }
    waiting.append(write)
    pump()
  }

  /// Drops the bytes of a user that have not been accepted.
  func dropWrites(of user: ObjectIdentifier) {
    var writes = waiting.take()
    while let write = writes.popFirst() { if write.user != user { waiting.append(write) } }
  }

  func endWriting(_ done: @escaping (SystemError?) -> Void) {
    endings.append(done)
    pump()
  }

  private func pump() {
    if let code { while let write = waiting.popFirst() { report(failure(code), to: write.done) } }
    while var write = waiting.popFirst() {
      while let chunk = write.chunks.popFirst() {
        precondition(
          link.buffer > 0, "VirtualInternet.Link: a buffer of \(link.buffer) bytes carries nothing; use 1 or more")
        guard held < link.buffer else {
          write.chunks.prepend(chunk)
          return waiting.prepend(write)
        }
        let piece = chunk.prefix(min(max(link.segment, 1), link.buffer - held))
        if piece.count < chunk.count { write.chunks.prepend(chunk.dropFirst(piece.count)) }
        send(.chunk(piece), piece.count)
      }
      report(nil, to: write.done)
    }
    guard !endings.isEmpty else { return }
    // As in the system, ending again succeeds, and so does ending after the peer is gone.
    if !hasEnded, code == nil {
      hasEnded = true
      send(.end)
    }
    while let done = endings.popFirst() { report(nil, to: done) }
  }

  private func failure(_ code: Int32) -> SystemError { SystemError("write to", name, code: code) }

  /// Calls the writer asynchronously, after earlier reports.
  private func report(_ error: SystemError?, to done: @escaping (SystemError?) -> Void) {
    reports.append { done(error) }
    reportNext()
  }

  private func reportNext() {
    guard callBack == nil, !reports.isEmpty, let time else { return }
    callBack = time.after(.zero, "a write to \(name)") { [self] in
      callBack = nil
      reports.popFirst()?()
      reportNext()
    }
  }

  private func send(_ parcel: Parcel, _ count: Int = 0) {
    guard let time else { return }
    let begin = max(time.now, freeAt)
    held += count
    freeAt = begin.advanced(by: link.time(for: count))
    travelling.append((freeAt.advanced(by: link.latency), parcel))
    awaitArrival()
  }

  /// Called when the peer has closed its end: later writes fail.
  func readerIsGone() {
    isReaderGone = true
    stopReading()
    deliver = nil
    arrived.removeAll()
    for work in [arrival.take(), turn.take()] { work?.cancel() }
    travelling.removeAll()
    held = 0
    code = code ?? 32  // EPIPE
    pump()
  }

  /// Called when the writer has closed its end: its callbacks are dropped. Bytes that were written still arrive,
  /// followed by the end of the stream.
  func writerIsGone() {
    waiting.removeAll()
    endings.removeAll()
    reports.removeAll()
    callBack.take()?.cancel()
    guard !hasEnded, code == nil else { return }
    hasEnded = true
    if !isReaderGone { send(.end) }
  }

  /// True if bytes have arrived that were not read.
  var hasUnread: Bool { !arrived.isEmpty }

  /// Called when the writer has closed its end without reading all that it was sent: the bytes in transit are lost, and
  /// after the latency, the reader fails after those that have arrived.
  func reset() {
    writerIsGone()
    guard let time, !isOver, !isReaderGone, code == nil else { return }
    arrival.take()?.cancel()
    travelling.removeAll()
    travelling.append((time.now.advanced(by: link.latency), .failure(104)))  // ECONNRESET
    awaitArrival()
  }

  /// Called when the connection is lost, with all bytes in transit.
  func lose(_ code: Int32) {
    guard self.code == nil || readFailure == nil else { return }
    self.code = code
    readFailure = code
    travelling.removeAll()
    arrival.take()?.cancel()
    pump()
    deliverSoon()
  }

  // MARK: Arriving

  private func awaitArrival() {
    guard arrival == nil, let time, let next = travelling.popFirst() else { return }
    arrival = time.alarm(at: max(next.at, time.now), OriginNote(named: "bytes for \(name)")) { [self] in
      arrival = nil
      switch next.parcel {
      case .chunk(let chunk): arrive(chunk)
      case .end: isOver = true
      case .failure(let code): readFailure = code
      }
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
      if let chunk = arrived.popFirst() {
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
