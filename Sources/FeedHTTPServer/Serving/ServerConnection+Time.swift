internal import FeedStream

// Deadlines.
extension ServerConnection {
  func hasPassed(_ ticks: Int, _ limit: StreamInstant.Stride) -> Bool {
    // Counts one tick fewer, because the first may come right after the start.
    Int64(ticks - 1) * limits.tick.nanoseconds >= limit.nanoseconds
  }

  func tick() {
    ticks += 1
    if isWriting {
      writeTicks += 1
      let allowed = limits.writeGrace + .seconds(Double(batchBytes) / Double(limits.bytesPerSecond))
      if hasPassed(writeTicks, allowed) { return close() }
    }
    switch phase {
    case .head where !hasRoom || isWriting: ticks = 0
    case .head:
      if parser.state.isUntouched {
        if hasPassed(ticks, limits.idle) { close() }
      } else if hasPassed(ticks, limits.header) {
        refuse(ParseFailure(.requestTimeout, "the request took too long"))
        process()
      }
    case .exchange:
      // Only time spent waiting for the client counts.
      guard wantsBody else {
        ticks -= 1
        return
      }
      let time = Double(ticks) * limits.tick.seconds - limits.bodyGrace.seconds
      if hasPassed(ticks, limits.bodyGrace), Double(countedBytes) < time * Double(limits.bytesPerSecond) {
        refuseBody(ParseFailure(.requestTimeout, "the body arrives too slowly"))
        process()
      }
    case .closing, .upgraded, .closed: break
    // Over TLS, the end consists of bytes, which wait for the client as a write does.
    case .lingering: if hasPassed(ticks, hasEndedWriting ? limits.linger : limits.writeGrace) { close() }
    }
  }
}
