internal import FeedStream

// Writing, and closing.
extension ServerConnection {
  func enqueue(_ chunk: Chunk) {
    guard !chunk.isEmpty else { return }
    outBytes += chunk.count
    // A waiting chunk must not retain the block that it was encoded or read into, of which it may be a small part.
    let kept = isWriting ? chunk.compacted() : chunk
    out.append(kept)
    if kept.count > limits.bufferedBytes { server.hold(kept, for: self) }
  }

  /// Stops counting a body that has been written or never will be, unless its source still holds it.
  func releaseHeld() {
    guard !held.isEmpty, source?.keepsBody != true else { return }
    for identity in held { server.shares.release(identity) }
    held = []
  }

  /// Writes the waiting bytes, unless a write is in progress or more bytes are about to be added.
  func flush() {
    guard !isWriting, !isProcessing, !out.isEmpty, phase != .closed else { return lingerIfWritten() }
    // Most responses are short, and written immediately. Long bodies take turns with other work on the loop.
    if source?.isEndless != false, outBytes <= 64 * 1024 {
      let count = out.count == 1 ? channel.writeNow(out[0]) : channel.writeNow(out)
      outBytes -= count
      drop(count)
      if out.isEmpty {
        releaseHeld()
        source?.roomIsThere()
        return lingerIfWritten()
      }
    }
    isWriting = true
    writeTicks = 0
    batchBytes = 0
    var batch: [Chunk] = []
    swap(&batch, &out)
    // Long writes are split, so that progress is noticed even if the client reads slowly.
    let most = 256 * 1024
    var count = 0
    while count < batch.count, batchBytes < most {
      let chunk = batch[count]
      if batchBytes + chunk.count > most {
        let part = most - batchBytes
        batch[count] = chunk[0..<part]
        batch.insert(chunk[part..<chunk.count], at: count + 1)
      }
      batchBytes += batch[count].count
      count += 1
    }
    if count < batch.count {
      out = Array(batch[count...])
      batch.removeSubrange(count...)
    }
    channel.write(batch.map { $0.compacted() }, hasWritten)
  }

  /// True if nothing is being written or about to be written.
  var isIdle: Bool { outBytes == 0 && !isProcessing && phase == .exchange }

  /// Writes a chunk while the connection is idle: as much as the system accepts immediately, and the rest as usual.
  func writeNow(_ chunk: Chunk) {
    let count = channel.writeNow(chunk)
    guard count < chunk.count else { return }
    enqueue(chunk[count..<chunk.count])
    flush()
  }

  /// Drops the first waiting bytes.
  private func drop(_ count: Int) {
    guard outBytes > 0 else {
      // Usually there is one chunk, and nothing is moved.
      if out.count == 1 { out.removeLast() } else { out.removeAll(keepingCapacity: true) }
      return
    }
    var (whole, left) = (0, count)
    while left > 0, out[whole].count <= left {
      left -= out[whole].count
      whole += 1
    }
    out.removeSubrange(..<whole)
    if left > 0 { out[0] = out[0][left..<out[0].count] }
  }

  func wrote(_ error: SystemError?) {
    isWriting = false
    outBytes -= batchBytes
    if error != nil { return close() }
    if hasRoom { releaseHeld() }
    flush()
    if hasRoom { source?.roomIsThere() }
    process()
  }

  // MARK: Ending

  /// Closes the connection once the pending bytes are written.
  func beginClosing() {
    guard phase != .closed, phase != .lingering else { return }
    phase = .closing
    input = Chunk()
    flush()
    updateReading()
  }

  /// Cuts the response off at this point, and closes the connection when the bytes before it are written.
  func cutOff() {
    source = nil
    isCutOff = true
    beginClosing()
  }

  /// Called when the client has been told to send the body, or has begun to send it.
  func clearExpectation() { received?.expectsContinue = false }

  func lingerIfWritten() {
    guard phase == .closing, !isWriting, out.isEmpty, !isProcessing else { return }
    if inputHasEnded && !channel.endsWithBytes || isCutOff && closingEndsBody { return close() }
    // Closing with unread bytes would reset the connection, and the response might be lost.
    phase = .lingering
    (ticks, countedBytes) = (0, 0)
    channel.endWriting { [unowned self] error in
      (hasEndedWriting, ticks) = (true, 0)
      if error != nil || inputHasEnded { close() }
    }
    updateReading()
  }

  func serverIsEnding() {
    // If a request has arrived, it is read next, and gets the last response.
    if mayNotWait, phase == .head, parser.state.isUntouched, input.isEmpty, !channel.hasInput {
      // Announced immediately, not after the other connections: a request that arrives after this is lost.
      if outBytes == 0, !isWriting { channel.announceEnd() }
      beginClosing()
    }
    source?.serverIsEnding()
  }

  func close() { close(failing: .disconnected) }

  /// - Parameter error: the reason for the reader of the request's body.
  func close(failing error: RequestBodyError) {
    guard phase != .closed else { return }
    phase = .closed
    number += 1
    let (reader, deciding, source) = (self.reader, self.deciding, self.source)
    // Otherwise, the part that has arrived would look like the whole body.
    if closingEndsBody, isCutOff || source != nil || outBytes > 0 { channel.breakOffAtClose() }
    (self.reader, self.deciding, self.source) = (nil, nil, nil)
    (input, out) = (Chunk(), [])
    releaseHeld()
    connection.close()
    server.remove(self)
    reader?.end(.failure(error))
    deciding?.cancel()
    source?.cancel()
  }
}
