internal import FeedStream

// Making room.
extension HTTPServer {
  /// Admits a connection, or closes it; if there are too many, closes a different one that is waiting for a request.
  ///
  /// - Returns: true if the connection is admitted, and the key under which it is counted; `nil` for one without a
  ///   limit.
  func admit(_ connection: Connection) -> (isAdmitted: Bool, client: String?) {
    let client = limits.isUnlimited(connection.peer) ? nil : connection.peer.client
    if let client, !shares.clients.admit(client, upTo: limits.connectionsPerAddress) {
      connection.close()
      return (false, nil)
    }
    if connections.count >= limits.connections { longestIdle?.close() }
    return (true, client)
  }

  /// The connection that has waited longest for a request, if it has waited at least a second.
  var longestIdle: ServerConnection? {
    let least = Int(1_000_000_000 / limits.tick.nanoseconds) + 1
    var found: ServerConnection?
    for connection in connections where connection.isWaitingForRequest && connection.ticks >= (found?.ticks ?? least) {
      found = connection
    }
    return found
  }

  /// Counts a body that is waiting on a connection. If there are too many bytes, closes connections whose clients read
  /// nothing.
  func hold(_ body: Chunk, for connection: ServerConnection) {
    let memory = body.keptMemory
    connection.held.append(memory.identity)
    shares.hold(memory)
    while shares.bodyBytes > limits.wholeBodyBytes {
      var slowest: ServerConnection?
      for other in connections where !other.held.isEmpty && other !== connection {
        // Closing a connection that holds the same memory would free nothing.
        guard other.held.contains(where: { !connection.held.contains($0) }) else { continue }
        if other.writeTicks > slowest?.writeTicks ?? -1 { slowest = other }
      }
      guard let slowest else { return }
      slowest.close()
    }
  }
}
