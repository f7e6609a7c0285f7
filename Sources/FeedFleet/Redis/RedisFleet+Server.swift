import FeedPolling
import FeedRedis
import FeedStream

/// Facts that a server tells of itself (`INFO`).
struct ServerFacts {
  private var fields: [Substring: Substring] = [:]

  /// - Parameter text: `name:value` on a line each; lines that begin with `#` are titles.
  init(_ text: String) {
    for line in text.split(whereSeparator: \.isNewline) where !line.hasPrefix("#") {
      guard let colon = line.firstIndex(of: ":") else { continue }
      fields[line[..<colon]] = line[line.index(after: colon)...]
    }
  }

  /// How many bytes it uses; 0 when it does not say.
  var memory: Int { fields["used_memory"].flatMap { Int($0) } ?? 0 }

  /// The rule by which it deletes keys when its memory is full; `nil` when it does not say.
  var policy: String? { fields["maxmemory_policy"].map(String.init) }

  /// True unless keys may be deleted to make room. A server that does not say is believed.
  var keepsKeys: Bool { policy.map { $0 == "noeviction" } ?? true }

  /// How many errors it has replied since it started, by their first word.
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
  /// The facts that the server tells of itself: none when this user may not ask for that.
  func facts() -> AnyPublisher<ServerFacts, FleetError> {
    send(RedisCommand("INFO", "memory", "errorstats"))
      .reading(in: self) { $0.text.map { ServerFacts($0) } }
      .catch { error -> AnyPublisher<ServerFacts, FleetError> in
        guard case .engine(RedisError.refused(_, let refusal), _) = error, refusal.kind == .notPermitted else {
          return Fail(error: error).eraseToAnyPublisher()
        }
        return Just(ServerFacts("")).setFailureType(to: FleetError.self).eraseToAnyPublisher()
      }
      .eraseToAnyPublisher()
  }

  /// Runs what makes the fleet's data more, on a server that keeps what it is given: fails with ``FleetError/evicting(_:policy:)``
  /// when it would delete keys to make room. The server is asked every half minute, since its policy may be changed while it runs.
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
