internal import COpenSSL
internal import FeedStream

/// The plaintext bytes of a connection, on top of a channel that carries the ciphertext.
///
/// It holds at most one chunk of unread ciphertext, and about ``batch`` encrypted bytes that have not been sent.
final class TLSChannel: ByteChannel {
  /// The number of bytes to encrypt at a time.
  static let batch = 128 * 1024

  let engine: TLSEngine
  let scheduler: any LoopScheduler
  /// The underlying connection, which this channel retains.
  private let below: Connection
  let inner: any ByteChannel
  private(set) var isClosed = false
  private var breaksOff = false
  /// The reason why the connection is no longer secure.
  var failure: TLSError?

  // Reading.
  private var deliver: ((ReadResult) -> Void)?
  var isWanted = false
  var isReadingBelow = false
  var isDelivering = false
  /// The result with which the underlying connection ended.
  private(set) var ending: ReadResult?
  /// Called during the handshake, instead of delivering input.
  private var onInput: (() -> Void)?

  // Writing.
  var waiting: [Chunk] = []
  var hasWritten: ((SystemError?) -> Void)?
  /// Called when writing has ended. A cancelled publisher's closure may still wait when the next one ends writing.
  var whenEnded: [(SystemError?) -> Void] = []
  var isWritingBelow = false
  /// True while writing waits for the rest of a message of the peer, which is read even if nobody reads.
  var awaitsInput = false
  /// The number of plaintext bytes that are already encrypted, and that the next write repeats.
  var encryptedAhead = 0

  init(_ below: Connection, _ engine: TLSEngine, on scheduler: any LoopScheduler) {
    self.below = below
    self.engine = engine
    self.scheduler = scheduler
    inner = below.channel
  }

  deinit { close() }

  var peer: SocketAddress { below.peer }

  // MARK: Handshake

  /// Calls `settle` with the result of the handshake, immediately or later, but not after ``close()``.
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
    // This includes the alert that tells the peer the reason.
    send()
    settle(failure)
  }

  var belowFailure: TLSError? { if case .failure(let error) = ending { .system(error) } else { nil } }

  // MARK: Reading

  func startReading(_ deliver: @escaping (ReadResult) -> Void) {
    guard !isClosed else { return }
    self.deliver = deliver
    isWanted = true
    guard !isDelivering else { return }
    guard engine.holdsInput || engine.hasFailed || engine.hasEnded || ending != nil || failure != nil else {
      return readBelow()
    }
    // Delivered on a later turn, like every result.
    scheduler.schedule { [weak self] in self?.deliverWhatCame() }
  }

  func stopReading() {
    isWanted = false
    if !awaitsInput { stopBelow() }
  }

  var endsWithBytes: Bool { true }
  var hasInput: Bool { !isClosed && (engine.holdsInput || inner.hasInput) }

  func readBelow() {
    // TLS's responses to the peer's control messages must be sent before more bytes are read.
    guard !isReadingBelow, ending == nil, !isClosed, engine.outputCount < Self.batch else { return }
    isReadingBelow = true
    // Unowned: the inner channel belongs to this one, and releases this closure when it is closed.
    inner.startReading { [unowned self] in came($0) }
  }

  private func stopBelow() {
    guard isReadingBelow else { return }
    isReadingBelow = false
    inner.stopReading()
  }

  private func came(_ result: ReadResult) {
    if case .chunk(let chunk) = result { engine.feed(chunk) } else { (ending, isReadingBelow) = (result, false) }
    // The subscriber may release this channel.
    withExtendedLifetime(self) {
      if let onInput { return onInput() }
      deliverWhatCame()
      resumeWriting()
      // What a write waited for may also have come while its subscriber was called.
      if !isWanted, !awaitsInput, !isClosed { stopBelow() }
    }
  }

  func deliverWhatCame() {
    guard !isDelivering, !isClosed else { return }
    isDelivering = true
    while isWanted, let deliver {
      switch engine.read() {
      case .done(let chunk): deliver(.chunk(chunk))
      case .ended: end(.end)
      case .failed(let error):
        // The peer's alert is the reason why a write to the underlying connection has failed.
        if case .system? = failure { failure = nil }
        end(failure: failure ?? error)
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
    end(.failure(SystemError("read from", "\(peer), because \(error)", code: error.code)))
  }

  private func end(_ result: ReadResult) {
    stopReading()
    let deliver = self.deliver
    self.deliver = nil
    deliver?(result)
  }

  // MARK: Ending

  func breakOffAtClose() {
    breaksOff = true
    inner.breakOffAtClose()
  }

  func close() {
    guard !isClosed else { return }
    // If a record is only partly sent, `close_notify` can't follow it. If bytes are missing, it would hide that.
    if !isWritingBelow, waiting.isEmpty, !breaksOff {
      if failure == nil { engine.sayGoodbye() }
      // Tried immediately, without waiting for the result.
      if engine.outputCount > 0 { inner.write(engine.takeOutput()) { _ in } }
    }
    isClosed = true
    (deliver, onInput, hasWritten) = (nil, nil, nil)
    (waiting, whenEnded) = ([], [])
    below.close()
  }
}
