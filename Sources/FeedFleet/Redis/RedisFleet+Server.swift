import FeedPolling
import FeedRedis
import FeedStream

/// Facts about a server, from `INFO`.
struct ServerFacts {
  private var fields: [Substring: Substring] = [:]

  /// - Parameter text: lines of `name:value`; lines that begin with `#` are titles.
  init(_ text: String) {
    for line in text.split(whereSeparator: \.isNewline) where !line.hasPrefix("#") {
      guard let colon = line.firstIndex(of: ":") else { continue }
      fields[line[..<colon]] = line[line.index(after: colon)...]
    }
  }

  /// The number of bytes that the server uses; 0 if it doesn't report this.
  var memory: Int { fields["used_memory"].flatMap { Int($0) } ?? 0 }

  /// The server's eviction policy, which determines the keys to delete when memory is full; `nil` if it isn't reported.
  var policy: String? { fields["maxmemory_policy"].map(String.init) }

  /// False if the server may delete keys to make room; true if it doesn't report this.
  var keepsKeys: Bool { policy.map { $0 == "noeviction" } ?? true }

  /// The number of error replies since the server started, by the first word of the reply.
  var errors: [String: Int] {
    var errors: [String: Int] = [:]
    for (name, value) in fields where name.hasPrefix("errorstat_") {
      guard value.hasPrefix("count="), let count = Int(value.dropFirst(6).prefix { $0.isNumber }) else { continue }
      errors[String(name.dropFirst(10))] = count
    }
    return errors
  }
}

extension RedisFleet {
  /// The facts about the server; empty if this user is not allowed to read them.
  func facts() -> AnyPublisher<ServerFacts, FleetError> {
    run(FleetScripts.facts)
      .reading(in: self) { $0.text.map { ServerFacts($0) } }
      .catch { error -> AnyPublisher<ServerFacts, FleetError> in
        guard case .engine(RedisError.refused(_, let refusal), _) = error, refusal.kind == .notPermitted else {
          return Fail(error: error).eraseToAnyPublisher()
        }
        return Just(ServerFacts("")).setFailureType(to: FleetError.self).eraseToAnyPublisher()
      }
      .eraseToAnyPublisher()
  }

  /// Runs work that adds data, but only if the server keeps all data: fails with ``FleetError/evicting(_:policy:)`` if
  /// the server would delete keys to make room. The server's policy is read every half minute, because it may change
  /// while the server runs.
  func keeping<Value>(_ call: AnyPublisher<Value, FleetError>) -> AnyPublisher<Value, FleetError> {
    Deferred { [self] in
      if let looked, looked.distance(to: client.scheduler.now) < .seconds(30) { return call }
      return facts()
        .flatMap { [self] facts -> AnyPublisher<Value, FleetError> in
          guard facts.keepsKeys else {
            return Fail(error: .evicting(place, policy: facts.policy ?? "")).eraseToAnyPublisher()
          }
          looked = client.scheduler.now
          return call
        }
        .eraseToAnyPublisher()
    }
    .eraseToAnyPublisher()
  }
}
