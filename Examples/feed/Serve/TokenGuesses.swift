import FeedHTTPServer
import FeedStream

/// Counts wrong tokens, so that a token cannot be found by trying.
///
/// A client has ten wrong ones, and then one every six seconds; all together have 100, and then one a second. Beyond that no token
/// is examined, right or wrong. A client that had the right one is not held up by the guesses of others elsewhere, and a
/// browser, which has a cookie, by none.
struct TokenGuesses: Sendable {
  /// Wrong tokens in one burst, and the time after which one more is given.
  struct Allowance: Sendable {
    let most: Int
    let each: StreamInstant.Stride
    private var used = 0
    private var since = StreamInstant(nanoseconds: 0)

    init(_ most: Int, each: StreamInstant.Stride) {
      self.most = most
      self.each = each
    }

    var isUnused: Bool { used == 0 }

    mutating func hasLeft(at now: StreamInstant) -> Bool {
      let given = Int(since.distance(to: now).nanoseconds / each.nanoseconds)
      if used == 0 || given >= used {
        (used, since) = (0, now)
      } else if given > 0 {
        used -= given
        since = since.advanced(by: .nanoseconds(Int(each.nanoseconds) * given))
      }
      return used < most
    }

    mutating func use() { used += 1 }
  }

  /// Clients that are remembered.
  private static let most = 4_096

  private var all = Allowance(100, each: .seconds(1))
  private var clients: [String: Allowance] = [:]
  private var known: Set<String> = []

  /// True when a token that this client offers may be looked at.
  mutating func areAllowed(to peer: SocketAddress, at now: StreamInstant) -> Bool {
    let client = peer.client
    guard clients[client]?.hasLeft(at: now) ?? true else { return false }
    return all.hasLeft(at: now) || known.contains(client)
  }

  mutating func note(isRight: Bool, of peer: SocketAddress) {
    let client = peer.client
    if isRight {
      if known.count < Self.most { known.insert(client) }
      return
    }
    all.use()
    if clients.count >= Self.most, clients[client] == nil { clients = clients.filter { !$0.value.isUnused } }
    // Beyond that, what all together have is what counts.
    if clients.count < Self.most || clients[client] != nil {
      clients[client, default: Allowance(10, each: .seconds(6))].use()
    }
  }
}
