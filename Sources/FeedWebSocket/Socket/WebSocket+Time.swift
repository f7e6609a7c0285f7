internal import FeedStream

// Deadlines. Each socket has one timer, which is set again only when it fires: usually there is nothing to do.
extension WebSocket {
  /// Sets the timer for the next deadline, unless it is set for an earlier time.
  func watch() {
    guard state != .closed else { return }
    var next: StreamInstant?
    if let closeBegan {
      next = closeBegan.advanced(by: limits.closeDeadline)
    } else if state == .open {
      next = pingSent?.advanced(by: limits.pongDeadline) ?? lastHeard.advanced(by: limits.pingInterval)
    }
    if let end = writeBegan?.advanced(by: writeLimit) { next = next.map { min($0, end) } ?? end }
    guard let due = next else { return }
    if let alarmAt, alarm != nil, alarmAt <= due { return }
    alarm?.cancel()
    alarmAt = due
    let delay = scheduler.now.distance(to: due)
    // Unowned: the timer is cancelled when the socket is closed or released. A weak reference takes memory, and slows
    // down all other references.
    alarm = scheduler.once(after: max(delay, .zero)) { [unowned self] in look() }
  }

  /// Called when the close frame is written.
  func beginClosing() {
    guard closeBegan == nil, state != .closed else { return }
    closeBegan = scheduler.now
    watch()
  }

  /// The minimum rate at which the peer must read while closing, so that a peer that doesn't read can't keep the socket
  /// open for minutes.
  private static let closingBytesPerSecond = 64 * 1024

  /// The time limit for the running write.
  private var writeLimit: StreamInstant.Stride {
    let rate = state == .closing ? max(Self.closingBytesPerSecond, limits.bytesPerSecond) : limits.bytesPerSecond
    return limits.writeGrace + .seconds(Double(batchBytes) / Double(rate))
  }

  private func look() {
    alarm = nil
    let now = scheduler.now
    func hasPassed(_ began: StreamInstant?, _ limit: StreamInstant.Stride) -> Bool {
      began.map { $0.advanced(by: limit) <= now } ?? false
    }
    if hasPassed(writeBegan, writeLimit) {
      return drop(state == .open ? .failure(.notReading(after: limits.writeGrace)) : .finished)
    }
    if hasPassed(closeBegan, limits.closeDeadline) { return drop(.finished) }
    if state == .open {
      let isDue = pingSent == nil && hasPassed(lastHeard, limits.pingInterval)
      // The peer's pong comes after the bytes sent before the ping, and is read only while messages are wanted. A write
      // without progress has its own deadline.
      let awaitsPong = isReading && !isWriting
      if !awaitsPong {
        if isDue || isWriting { lastHeard = now }
        pingSent = nil
      }
      if hasPassed(pingSent, limits.pongDeadline) { return drop(.failure(.noPong(after: limits.pongDeadline))) }
      // If nobody subscribes to the messages, writing shows whether the peer is gone. A subscriber without demand still
      // gets the messages that wait, even after the peer is gone.
      if isDue, !isWriting, isReading || subscription == nil {
        if awaitsPong { pingSent = now }
        enqueue(control: .ping, Chunk())
        flush()
      }
    }
    watch()
  }
}
