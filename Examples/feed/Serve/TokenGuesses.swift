import FeedHTTPServer
import FeedStream

/// Limits the number of wrong tokens, so that a token can't be guessed.
///
/// A client may send ten wrong tokens, and then one every six seconds; all clients together may send 100, and then one
/// per second. Beyond that, tokens aren't examined, whether right or wrong. A client that has sent the right token
/// isn't affected by the wrong tokens of other clients, and a browser, which has a cookie, isn't affected at all.
struct TokenGuesses: Sendable {
  /// The number of wrong tokens that are allowed in one burst, and the time after which one more is allowed.
  struct Allowance: Sendable {
    let most: Int
    let each: StreamInstant.Stride
    private var used = 0
    private var since = StreamInstant(nanoseconds: 0)

    init(_ most: Int, each: StreamInstant.Stride) {
      self.most = most
      self.each = each
    }

    func isUnused(at now: StreamInstant) -> Bool { used == 0 || given(by: now) >= used }

    private func given(by now: StreamInstant) -> Int { Int(since.distance(to: now).nanoseconds / each.nanoseconds) }

    mutating func hasLeft(at now: StreamInstant) -> Bool {
      let given = given(by: now)
      if isUnused(at: now) {
        used = 0
      } else if given > 0 {
        used -= given
        since = since.advanced(by: .nanoseconds(Int(each.nanoseconds) * given))
      }
      return used < most
    }

    mutating func use(at now: StreamInstant) {
      // A burst begins with the first wrong token.
      if used == 0 { since = now }
      used += 1
    }
  }

  /// The maximum number of remembered clients.
  private static let most = 4_096

  private var all = Allowance(100, each: .seconds(1))
  private var clients: [String: Allowance] = [:]
  private var known: Set<String> = []

  /// True if a token from this client may be examined.
  mutating func areAllowed(to peer: SocketAddress, at now: StreamInstant) -> Bool {
    let client = peer.client
    guard clients[client]?.hasLeft(at: now) ?? true else { return false }
    return all.hasLeft(at: now) || known.contains(client)
  }

  mutating func note(isRight: Bool, of peer: SocketAddress, at now: StreamInstant) {
    let client = peer.client
    if isRight {
      if known.count < Self.most { known.insert(client) }
      return
    }
    all.use(at: now)
    if clients.count >= Self.most, clients[client] == nil { clients = clients.filter { !$0.value.isUnused(at: now) } }
    // If the table is still full, a new client is limited only by the allowance for all clients.
    if clients.count < Self.most || clients[client] != nil {
      clients[client, default: Allowance(10, each: .seconds(6))].use(at: now)
    }
  }
}
