internal import FeedStream

/// Counts each limited client's connections to one server, or to the servers on several loops together.
final class ClientCounts: Sendable {
  private let counts = Locked<[String: Int]>([:])

  /// - Returns: false if the client has reached its limit.
  func admit(_ client: String, upTo most: Int) -> Bool {
    counts.withLock { counts in
      let count = counts[client, default: 0]
      guard count < most else { return false }
      counts[client] = count + 1
      return true
    }
  }

  func leave(_ client: String) {
    counts.withLock { counts in
      guard let count = counts[client] else { return }
      counts[client] = count == 1 ? nil : count - 1
    }
  }
}
