internal import COpenSSL
internal import FeedStream

/// The bytes of a connection in plaintext, over one that carries their ciphertext.
///
/// It holds at most a chunk of ciphertext that is not read, and ``batch`` bytes that are encrypted and not sent.
final class TLSChannel: ByteChannel {
  /// How many bytes are encrypted at a time.
  static let batch = 128 * 1024

  let engine: TLSEngine
  let scheduler: any LoopScheduler
  /// The connection below, which this keeps.
  private let below: Connection
  private let inner: any ByteChannel
  private(set) var isClosed = false
  /// Why it is not secure any more.
  private(set) var failure: TLSError?

  // Reading.
  private var deliver: ((ReadResult) -> Void)?
  private var isWanted = false
  private var isReadingBelow = false
  private var isDelivering = false
  /// How the connection below ended.
  private var ending: ReadResult?
  /// Called instead of delivering during the handshake.
  private var onInput: (() -> Void)?

  // Writing.
  private var waiting: [Chunk] = []
  private var hasWritten: ((SystemError?) -> Void)?
  private var hasEnded: ((SystemError?) -> Void)?
  private var isWritingBelow = false

  init(_ below: Connection, _ engine: TLSEngine, on scheduler: any LoopScheduler) {
    self.below = below
    self.engine = engine
    self.scheduler = scheduler
    inner = below.channel
  }

  deinit { close() }

  var peer: SocketAddress { below.peer }

  // MARK: Coming to terms

  /// Calls `settle` with what the handshake leads to, now or later; not after ``close()``.
  func shakeHands(with host: String?, _ settle: @escaping (TLSError?) -> Void) {
    onInput = { [unowned self] in goOn(host, settle) }
    goOn(host, settle)
  }

  private func goOn(_ host: String?, _ settle: @escaping (TLSError?) -> Void) {
    let step = engine.handshake(with: host)
    switch step {
    case .wantsInput where ending == nil:
      send()
      return readBelow()
    case .wantsInput, .ended: failure = belowFailure ?? .truncated
    case .failed(let error): failure = error
    case .done: break
    }
    onInput = nil
    stopBelow()
    // Also what tells the other side why.
    send()
    settle(failure)
  }

  private var belowFailure: TLSError? { if case .failure(let error) = ending { .system(error) } else { nil } }

  // MARK: Reading

  func startReading(_ deliver: @escaping (ReadResult) -> Void) {
    guard !isClosed else { return }
    self.deliver = deliver
    isWanted = true
    guard !isDelivering else { return }
    guard engine.holdsInput || ending != nil || failure != nil else { return readBelow() }
    // As every answer, on a later turn.
    scheduler.schedule { [weak self] in self?.deliverWhatCame() }
  }

  func stopReading() {
    isWanted = false
    stopBelow()
  }

  private func readBelow() {
    // What answers the other side's control messages has to go before more of them are read.
    guard !isReadingBelow, ending == nil, !isClosed, engine.outputCount < Self.batch else { return }
    isReadingBelow = true
    // Unowned: the channel below is this one's, and forgets it when it is closed.
    inner.startReading { [unowned self] in came($0) }
  }

  private func stopBelow() {
    guard isReadingBelow else { return }
    isReadingBelow = false
    inner.stopReading()
  }

  private func came(_ result: ReadResult) {
    if case .chunk(let chunk) = result { engine.feed(chunk) } else { (ending, isReadingBelow) = (result, false) }
    // The subscriber may release this.
    withExtendedLifetime(self) { if let onInput { onInput() } else { deliverWhatCame() } }
  }

  private func deliverWhatCame() {
    guard !isDelivering, !isClosed else { return }
    isDelivering = true
    while isWanted, let deliver {
      switch engine.read() {
      case .done(let chunk): deliver(.chunk(chunk))
      case .ended: end(.end)
      case .failed(let error): end(failure: failure ?? error)
      case .wantsInput:
        switch ending {
        case nil:
          isDelivering = false
          send()
          return readBelow()
        case .failure(let error): end(.failure(error))
        default: end(failure: .truncated)
        }
      }
    }
    isDelivering = false
    send()
  }

  private func end(failure error: TLSError) {
    failure = error
    end(.failure(SystemError("read from", "\(peer), since \(error)", code: error.code)))
  }

  private func end(_ result: ReadResult) {
    stopReading()
    let deliver = self.deliver
    self.deliver = nil
    deliver?(result)
  }

  // MARK: Writing

  func write(_ chunks: [Chunk], _ done: @escaping (SystemError?) -> Void) {
    guard !isClosed else { return }
    waiting = chunks.filter { !$0.isEmpty }
    hasWritten = done
    guard !isWritingBelow else { return }
    encrypt()
    send()
    // Nothing to send, or nothing that can be sent.
    if !isWritingBelow { scheduler.schedule { [weak self] in self?.answer() } }
  }

  func writeNow(_ chunks: [Chunk]) -> Int {
    let count = chunks.reduce(0) { $0 + $1.count }
    guard !isClosed, failure == nil, !isWritingBelow, engine.outputCount == 0, hasWritten == nil, count <= 64 * 1024
    else { return 0 }
    waiting = chunks
    encrypt()
    waiting = []
    guard failure == nil else { return 0 }
    var output = engine.takeOutput()
    var sent = inner.writeNow(output)
    while let first = output.first, first.count <= sent {
      sent -= first.count
      output.removeFirst()
    }
    if let first = output.first {
      output[0] = first[sent..<first.count]
      // It is encrypted, and so it goes as it is; until it has gone, nothing else does.
      sendBelow(output)
    }
    return count
  }

  func endWriting(_ done: @escaping (SystemError?) -> Void) {
    guard !isClosed, hasEnded == nil else { return }
    hasEnded = done
    if !isWritingBelow, hasWritten == nil { endBelow() }
  }

  /// Encrypts some of what waits, in records as long as may be.
  private func encrypt() {
    let record = 16 * 1024
    while let first = waiting.first, engine.outputCount < Self.batch, failure == nil {
      var piece = first
      var count = 1
      var total = first.count
      while count < waiting.count, total + waiting[count].count <= record {
        total += waiting[count].count
        count += 1
      }
      if total > record {
        piece = first[0..<record]
        waiting[0] = first[record..<first.count]
      } else {
        if count > 1 { piece = Chunk(joining: waiting[..<count]) }
        waiting.removeFirst(count)
      }
      if let error = piece.withUnsafeBytes({ engine.write($0) }) { failure = error }
    }
  }

  /// Sends what is encrypted, unless something is on its way.
  private func send() {
    guard !isWritingBelow, !isClosed, engine.outputCount > 0 else { return }
    sendBelow(engine.takeOutput())
  }

  private func sendBelow(_ output: [Chunk]) {
    isWritingBelow = true
    inner.write(output) { [unowned self] in hasSent($0) }
  }

  private func hasSent(_ error: SystemError?) {
    isWritingBelow = false
    if let error {
      failure = failure ?? .system(error)
      return answer()
    }
    encrypt()
    send()
    guard !isWritingBelow else { return }
    withExtendedLifetime(self) {
      answer()
      // What was sent made room for the answers of what is read.
      if isWanted, !isDelivering, !isReadingBelow, !isClosed { deliverWhatCame() }
    }
  }

  /// Everything is written, or nothing can be.
  private func answer() {
    guard !isClosed, !isWritingBelow, waiting.isEmpty || failure != nil else { return }
    waiting = []
    let done = hasWritten
    hasWritten = nil
    done?(failure.map { SystemError("write to", "\(peer)", $0) })
    if !isClosed, hasEnded != nil, !isWritingBelow, hasWritten == nil { endBelow() }
  }

  private func endBelow() {
    engine.sayGoodbye()
    if engine.outputCount > 0 { return send() }
    guard let done = hasEnded else { return }
    hasEnded = nil
    // The other side has been told, and may be gone by now.
    inner.endWriting { _ in done(nil) }
  }

  // MARK: Ending

  func close() {
    guard !isClosed else { return }
    // With something half sent, an ending would be a lie.
    if !isWritingBelow {
      if failure == nil { engine.sayGoodbye() }
      // Tried immediately; nobody waits for it.
      if engine.outputCount > 0 { inner.write(engine.takeOutput()) { _ in } }
    }
    isClosed = true
    (deliver, onInput, hasWritten, hasEnded) = (nil, nil, nil, nil)
    waiting = []
    below.close()
  }
}

extension SystemError {
  init(_ operation: String, _ subject: String, _ error: TLSError) {
    if case .system(let error) = error {
      self = error
    } else {
      self.init(operation, "\(subject), since \(error)", code: error.code)
    }
  }
}
