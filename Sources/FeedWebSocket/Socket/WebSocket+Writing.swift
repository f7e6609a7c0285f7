internal import FeedStream

extension WebSocket {
  /// A message or frame that is waiting to be sent.
  enum Item {
    case message(WebSocketMessage)
    case close(WebSocketClose)
    /// Called when everything queued before this item is written.
    case mark((_ isWritten: Bool) -> Void)
  }

  /// A stage that writes to this socket. It removes itself before it is released, because a weak reference to it would
  /// slow down all other references.
  struct Writer {
    unowned(unsafe) let writer: any SocketWriter
    let identity: ObjectIdentifier

    init(_ writer: any SocketWriter) {
      self.writer = writer
      identity = ObjectIdentifier(writer)
    }
  }

  /// True while another message may be requested.
  var hasRoom: Bool { state == .open && queue.isEmpty && current == nil && outBytes < limits.bufferedBytes }

  /// True if something is waiting that can be written now.
  private var hasMore: Bool { !out.isEmpty || current != nil || !queue.isEmpty || !controls.isEmpty }

  /// True once a close frame is among the written frames.
  var isCloseSent: Bool {
    guard state != .open else { return false }
    return !queue.contains { if case .close = $0 { true } else { false } }
  }

  func enqueue(_ message: WebSocketMessage) {
    guard state == .open else { return }
    guard !isFlushing, !isPumping, !isWriting, !hasMore, !isBlocked, let frame = shortFrame(message) else {
      queue.append(.message(message))
      fill()
      return flush()
    }
    // Nothing waits; broadcast messages usually take this path. The writers have already been told that there is room.
    let count = channel.writeNow(frame)
    encodedBytes += frame.count
    writtenBytes += count
    guard count < frame.count else { return }
    out = [frame[count..<frame.count].compacted()]
    outBytes += frame.count - count
    writeLater()
  }

  /// A message as one frame in one block; `nil` if it is compressed, masked, or long.
  private func shortFrame(_ message: WebSocketMessage) -> Chunk? {
    let count = message.bytes.count
    guard masks == nil, count <= OutgoingMessage.mostCopied, !(deflating?.takes(count) ?? false) else { return nil }
    return Frames.whole(FrameHeader(message.isText ? .text : .binary, count: count), message.bytes)
  }

  func enqueue(control opcode: Opcode, _ payload: Chunk) {
    let frame = Frames.control(opcode, payload, mask: masks?.next())
    controls.append(frame)
    queuedControlBytes += frame.count
    controlBytes += frame.count
    fill()
  }

  /// Calls `action` when all waiting messages are written, or never will be.
  func whenWritten(_ action: @escaping (_ isWritten: Bool) -> Void) {
    guard state == .open else { return action(!hasForgotten) }
    queue.append(.mark(action))
    fill()
    flush()
  }

  /// Encodes waiting messages while there is room.
  func fill() {
    while outBytes < limits.bufferedBytes {
      if !controls.isEmpty, current?.isWithinFrame != true {
        for control in controls { append(control) }
        controls.removeAll(keepingCapacity: true)
        queuedControlBytes = 0
      } else if current != nil {
        let (chunks, isLast) = current!.next(deflating, masks)
        for chunk in chunks { append(chunk) }
        if isLast { current = nil }
      } else if !queue.isEmpty {
        switch queue.removeFirst() {
        case .message(let message):
          let isCompressed = deflating?.takes(message.bytes.count) ?? false
          current = OutgoingMessage(message, isCompressed: isCompressed)
        case .close(let close):
          append(Frames.close(close, mask: masks?.next()))
          // Nothing follows a close frame.
          queue = []
          // The peer's time to reply begins when the frame is written, because the messages before it may take long.
          let start: (Bool) -> Void = { [weak self] _ in self?.beginClosing() }
          marks.append((encodedBytes, start))
        case .mark(let action): marks.append((encodedBytes, action))
        }
      } else {
        return
      }
    }
  }

  private func append(_ chunk: Chunk) {
    guard !chunk.isEmpty else { return }
    out.append(chunk)
    outBytes += chunk.count
    encodedBytes += chunk.count
  }

  /// Writes encoded bytes, and requests more while there is room.
  func flush() {
    guard !isFlushing, !isPumping, state != .closed else { return }
    withExtendedLifetime(self) {
      isFlushing = true
      var rounds = 0
      repeat {
        rounds += 1
        fill()
        // A publisher that always has messages takes turns with other work on the loop.
        if !isWriting, !out.isEmpty { write(isQuick: rounds < 16) }
        callMarks()
      } while state != .closed && (!isWriting && hasMore || askWriters())
      isFlushing = false
      lingerIfWritten()
      // With room for the replies to pings, reading can continue.
      if isBlocked, controlBytes < Self.mostControlBytes { pump() }
    }
  }

  private func write(isQuick: Bool) {
    if isQuick, outBytes <= 64 * 1024 {
      let chunk = out.count == 1 ? out[0] : Chunk(joining: out)
      out.removeAll(keepingCapacity: out.capacity <= 16)
      let count = channel.writeNow(chunk)
      wrote(count)
      guard count < chunk.count else { return }
      out = [chunk[count..<chunk.count].compacted()]
    }
    writeLater()
  }

  /// Writes encoded bytes when the connection has room for them.
  private func writeLater() {
    var batch: [Chunk] = []
    swap(&batch, &out)
    let count = batch.reduce(0) { $0 + $1.count }
    isWriting = true
    writeBegan = scheduler.now
    batchBytes = count
    watch()
    channel.write(batch) { [weak self] error in self?.hasWritten(count, error) }
  }

  private func wrote(_ count: Int) {
    outBytes -= count
    writtenBytes += count
    // Control frames that still wait for the end of a long frame aren't among these bytes.
    controlBytes = max(queuedControlBytes, controlBytes - count)
  }

  private func hasWritten(_ count: Int, _ error: SystemError?) {
    isWriting = false
    // The peer has made room for bytes that waited, so it is alive.
    if let writeBegan, writeBegan < scheduler.now {
      lastHeard = scheduler.now
      pingSent = nil
    }
    writeBegan = nil
    if let error { return drop(state == .open ? .failure(.connectionLost(error)) : .finished) }
    wrote(count)
    flush()
  }

  private func callMarks() {
    while let first = marks.first, first.at <= writtenBytes {
      marks.removeFirst()
      first.action(true)
    }
  }

  /// Drops messages whose sending has not begun, and informs their senders.
  func forget(_ items: [Item]) {
    if items.contains(where: { if case .message = $0 { true } else { false } }) { hasForgotten = true }
    for case .mark(let action) in items { action(false) }
  }

  /// - Returns: true if something was sent.
  private func askWriters() -> Bool {
    guard hasRoom, !writers.isEmpty else { return false }
    let before = encodedBytes
    if writers.count == 1 {
      writers[0].writer.roomIsThere()
      return encodedBytes > before
    }
    // The writers take turns, so that none waits for the others.
    for _ in 0..<writers.count where hasRoom && !writers.isEmpty {
      let entry = writers.removeFirst()
      writers.append(entry)
      entry.writer.roomIsThere()
    }
    return encodedBytes > before
  }
}

/// A stage that sends messages from a publisher to a socket.
protocol SocketWriter: AnyObject {
  /// Called when another message may be requested.
  func roomIsThere()
  /// Called when nothing can be sent anymore.
  func socketEnded(_ completion: Subscribers.Completion<WebSocketError>)
}
