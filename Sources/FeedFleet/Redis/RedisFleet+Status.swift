import FeedRedis
public import FeedStream
public import Foundation

/// The state of a fleet.
public struct FleetStatus: Hashable, Sendable {
  public struct Worker: Hashable, Sendable {
    public var name: String
    /// The time when it was heard of last, by the engine's clock.
    public var seen: Date
    /// The worker's own figures: `concurrency`, `running`, `polls`, `failures`.
    public var about: [String: Int]
  }

  public struct Lease: Hashable, Sendable {
    public var host: String
    public var worker: String
    public var address: String
    public var until: Date
  }

  public struct Pause: Hashable, Sendable {
    public var host: String
    /// `nil` for one without an end.
    public var until: Date?
    public var reason: String
  }

  /// The engine's clock.
  public var now: Date
  public var feeds: Int
  public var hosts: Int
  /// The number of hosts that may be polled now and are not.
  public var dueHosts: Int
  /// The number of due feeds of these hosts; of the first ``looked`` hosts.
  public var dueFeeds: Int
  /// The due time of the feed that has waited for longest, its host being free.
  public var oldestDue: Date?
  public var leases: [Lease]
  public var pausedHosts: Int
  /// The first of the paused hosts.
  public var pauses: [Pause]
  public var workers: [Worker]
  /// Counts of the minute before this one: `changed`, `unchanged`, `failed`, `superseded`, `lost`, `lapsed`.
  public var lastMinute: [String: Int]
  public var thisMinute: [String: Int]
  public var updates: Int
  /// The time when the next host is due.
  public var next: Date?
  /// The number of hosts that were looked at for ``dueFeeds``.
  public var looked: Int
  /// The number of bytes that the engine uses; 0 when it does not say.
  public var memory: Int
  /// The rule by which the engine deletes keys when its memory is full, which loses feeds; `nil` when it keeps them, or does not say.
  public var evictionPolicy: String?

  /// The time that the longest waiting feed has waited.
  public var lateness: Duration { oldestDue.map { .seconds(max(0, now.timeIntervalSince($0))) } ?? .zero }

  /// Polls of the minute before this one.
  public var pollsPerMinute: Int { ["changed", "unchanged", "failed"].reduce(0) { $0 + (lastMinute[$1] ?? 0) } }
}

extension RedisFleet {
  /// Notes that a worker lives.
  public func beat(_ worker: String, about: [String: Int]) -> AnyPublisher<Void, FleetError> {
    let text = about.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }.joined(separator: " ")
    return run(FleetScripts.beat, [RedisArgument(worker), RedisArgument(text)]).map { _ in }.eraseToAnyPublisher()
  }

  /// Notes that a worker has ended.
  public func leave(_ worker: String) -> AnyPublisher<Void, FleetError> {
    run(FleetScripts.leave, [RedisArgument(worker)]).map { _ in }.eraseToAnyPublisher()
  }

  /// The state of the fleet. Changes nothing.
  public func status() -> AnyPublisher<FleetStatus, FleetError> {
    return run(FleetScripts.status, [1000])
      .reading(in: self) { reply in reply.elements.flatMap { $0.count == 17 ? $0 : nil } }
      .zip(facts())
      .map { Self.status($0, $1) }
      .eraseToAnyPublisher()
  }

  private static func status(_ parts: [RedisValue], _ facts: ServerFacts) -> FleetStatus {
    func part(_ index: Int) -> RedisValue { index < parts.count ? parts[index] : .null }
    func number(_ index: Int) -> Int { Int(part(index).integer ?? 0) }
    let abouts = part(10)
    return FleetStatus(
      now: part(0).date ?? Date(), feeds: number(1), hosts: number(2), dueHosts: number(3), dueFeeds: number(4),
      oldestDue: part(5).date, leases: leases(part(11)), pausedHosts: number(7), pauses: pauses(part(8)),
      workers: pairs(part(9)).map { name, seen in
        FleetStatus.Worker(name: name, seen: seen.date ?? Date(), about: about(abouts[name]?.text ?? ""))
      },
      lastMinute: counts(part(12)), thisMinute: counts(part(13)), updates: number(14), next: part(15).date,
      looked: number(16), memory: facts.memory,
      evictionPolicy: facts.keepsKeys ? nil : facts.policy)
  }

  private static func pairs(_ value: RedisValue) -> [(String, RedisValue)] {
    let elements = value.elements ?? []
    return stride(from: 0, to: elements.count - 1, by: 2).map { (elements[$0].text ?? "", elements[$0 + 1]) }
  }

  private static func counts(_ value: RedisValue) -> [String: Int] {
    Dictionary(pairs(value).map { ($0.0, Int($0.1.integer ?? 0)) }) { first, _ in first }
  }

  private static func leases(_ value: RedisValue) -> [FleetStatus.Lease] {
    pairs(value).compactMap { host, lease in
      let words = (lease.text ?? "").split(separator: " ", maxSplits: 3).map(String.init)
      guard words.count == 4, let until = Int64(words[1]) else { return nil }
      return FleetStatus.Lease(host: host, worker: words[2], address: words[3], until: Date(milliseconds: until))
    }
    .sorted { $0.host < $1.host }
  }

  private static func pauses(_ value: RedisValue) -> [FleetStatus.Pause] {
    (value.elements ?? []).compactMap { pause in
      guard let parts = pause.elements, parts.count == 3, let host = parts[0].text else { return nil }
      return FleetStatus.Pause(host: host, until: parts[1].date, reason: parts[2].text ?? "")
    }
  }

  private static func about(_ text: String) -> [String: Int] {
    Dictionary(
      text.split(separator: " ").compactMap { word in
        let parts = word.split(separator: "=")
        return parts.count == 2 ? Int(parts[1]).map { (String(parts[0]), $0) } : nil
      }
    ) { first, _ in first }
  }
}
