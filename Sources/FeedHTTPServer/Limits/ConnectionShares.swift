internal import FeedStream

/// Counts resources whose limits apply to several connections together.
struct ConnectionShares {
  /// The number of open connections of each limited client.
  let clients: ClientCounts
  /// The memory of long bodies waiting to be written, and the number of connections that each body is waiting on.
  private var bodies: [ObjectIdentifier: (users: Int, bytes: Int)] = [:]
  private(set) var bodyBytes = 0

  init(_ clients: ClientCounts) { self.clients = clients }

  mutating func hold(_ memory: (identity: ObjectIdentifier, bytes: Int)) {
    if bodies[memory.identity] == nil { bodyBytes += memory.bytes }
    bodies[memory.identity, default: (0, memory.bytes)].users += 1
  }

  mutating func release(_ identity: ObjectIdentifier) {
    guard var body = bodies[identity] else { return }
    body.users -= 1
    bodies[identity] = body.users == 0 ? nil : body
    if body.users == 0 { bodyBytes -= body.bytes }
  }
}
