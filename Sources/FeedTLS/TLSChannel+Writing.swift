internal import FeedStream

// Writing.
extension TLSChannel {
  func write(_ chunks: [Chunk], _ done: @escaping (SystemError?) -> Void) {
    guard !isClosed else { return }
    // A cancelled publisher's bytes may still wait. Its closure isn't needed anymore.
    waiting += withoutEncrypted(chunks)
    hasWritten = done
    guard !isWritingBelow else { return }
    encrypt()
    send()
    // There is nothing to send, or nothing can be sent.
    if !isWritingBelow { scheduler.schedule { [weak self] in self?.answer() } }
  }

  func writeNow(_ chunks: [Chunk]) -> Int {
    let count = chunks.reduce(0) { $0 + $1.count }
    guard !isClosed, failure == nil, !isWritingBelow, engine.outputCount == 0, hasWritten == nil, encryptedAhead == 0,
      count <= 64 * 1024
    else { return 0 }
    waiting = chunks
    encrypt()
    waiting = []
    guard failure == nil, !awaitsInput else { return 0 }
    var output = engine.takeOutput()
    var sent = inner.writeNow(output)
    while let first = output.first, first.count <= sent {
      sent -= first.count
      output.removeFirst()
    }
    guard let first = output.first else { return count }
    output[0] = first[sent..<first.count]
    // The rest is encrypted, so it is sent as it is; nothing else is sent before it. The caller learns when it is sent
    // by writing these bytes.
    encryptedAhead = count
    sendBelow(output)
    return 0
  }

  /// The chunks that aren't empty, without the bytes that ``writeNow(_:)`` has encrypted.
  private func withoutEncrypted(_ chunks: [Chunk]) -> [Chunk] {
    chunks.compactMap { chunk in
      let skipped = min(encryptedAhead, chunk.count)
      encryptedAhead -= skipped
      return skipped < chunk.count ? chunk[skipped..<chunk.count] : nil
    }
  }

  func endWriting(_ done: @escaping (SystemError?) -> Void) {
    guard !isClosed else { return }
    whenEnded.append(done)
    if !isWritingBelow, hasWritten == nil { endBelow() }
  }

  /// Encrypts waiting bytes, in records of the maximum length.
  private func encrypt() {
    guard !waiting.isEmpty, !mustWait() else { return }
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

  /// True while only a part of a message of the peer has arrived; the rest is then read. If it can't be, the ends that
  /// wait fail.
  private func mustWait() -> Bool {
    guard !engine.hasSaidGoodbye, failure == nil || awaitsInput else { return false }
    awaitsInput = false
    let step: TLSEngine.Step<Void> = failure.map { .failed($0) } ?? engine.finishMessage()
    switch step {
    case .done: break
    case .wantsInput where ending == nil:
      awaitsInput = true
      readBelow()
    case .wantsInput, .ended: failEnds(belowFailure ?? .truncated)
    case .failed(let error): failEnds(error)
    }
    return awaitsInput
  }

  private func failEnds(_ reason: TLSError) {
    failure = reason
    let (closures, error) = (whenEnded, SystemError("write to", "\(peer)", reason))
    whenEnded = []
    // Reported on a later turn, like every result.
    scheduler.schedule { [weak self] in
      for done in closures where self?.isClosed == false { done(error) }
    }
  }

  /// Continues writing, or ends it, if it waited for input.
  func resumeWriting() {
    guard awaitsInput, !isClosed else { return }
    if !mustWait() { encrypt() }
    send()
    answer()
  }

  /// Sends encrypted bytes, unless a write is running.
  func send() {
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
      // Sending made room for TLS's own responses to incoming bytes.
      if isWanted, !isDelivering, !isReadingBelow, !isClosed { deliverWhatCame() }
    }
  }

  /// Completes the write if all bytes are written, or no more can be.
  private func answer() {
    guard !isClosed, !isWritingBelow, waiting.isEmpty || failure != nil else { return }
    waiting = []
    let done = hasWritten
    hasWritten = nil
    done?(failure.map { SystemError("write to", "\(peer)", $0) })
    if !isClosed, !whenEnded.isEmpty, !isWritingBelow, hasWritten == nil { endBelow() }
  }

  private func endBelow() {
    guard !mustWait() else { return }
    engine.sayGoodbye()
    if engine.outputCount > 0 { return send() }
    guard !whenEnded.isEmpty else { return }
    let closures = whenEnded
    whenEnded = []
    // The peer has received `close_notify`, and may have closed the connection already.
    inner.endWriting { _ in for done in closures { done(nil) } }
  }
}

extension SystemError {
  init(_ operation: String, _ subject: String, _ error: TLSError) {
    if case .system(let error) = error {
      self = error
    } else {
      self.init(operation, "\(subject), because \(error)", code: error.code)
    }
  }
}
