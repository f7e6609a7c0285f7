public import FeedPolling
import FeedRedis
public import FeedStream
import Foundation

extension RedisFleet {
  /// Records that a worker is alive.
  public func beat(_ worker: String, about: [String: Int]) -> AnyPublisher<Void, FleetError> {
    let text = about.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }.joined(separator: " ")
    return run(FleetScripts.beat, [RedisArgument(worker), RedisArgument(text)]).map { _ in }.eraseToAnyPublisher()
  }

  /// Records that a worker has stopped.
  public func leave(_ worker: String) -> AnyPublisher<Void, FleetError> {
    run(FleetScripts.leave, [RedisArgument(worker)]).map { _ in }.eraseToAnyPublisher()
  }

  /// The state of the fleet. Changes nothing.
  public func status() -> AnyPublisher<FleetStatus, FleetError> {
    Deferred { [self] in
      let start = uptime()
      return run(FleetScripts.status, [1000])
        .reading(in: self) { [uptime] reply in
          reply.elements.flatMap { $0.count == 22 ? ($0, uptime() - start) : nil }
        }
        .zip(facts())
        .map { Self.status($0.0, $0.1, $1) }
    }
    .eraseToAnyPublisher()
  }

  private static func status(_ parts: [RedisValue], _ latency: Duration, _ facts: ServerFacts) -> FleetStatus {
    func number(_ index: Int) -> Int { Int(parts[index].integer ?? 0) }
    let abouts = parts[15]
    // Each free host has a feed that is due, even a host that was not examined.
    return FleetStatus(
      now: parts[0].date ?? Date(), feeds: number(2), hosts: number(3), dueHosts: number(4),
      dueFeeds: max(number(5), number(4)),
      queuedFeeds: number(6), oldestDue: parts[7].date, isCut: number(8) == 1, queues: queues(parts[9]),
      leases: leases(parts[10]), pausedHosts: number(11), pauses: pauses(parts[12]),
      workers: pairs(parts[14]).map { name, seen in
        FleetStatus.Worker(name: name, seen: seen.date ?? Date(), about: about(abouts[name]?.text ?? ""))
      },
      lastMinute: counts(parts[16]), thisMinute: counts(parts[17]), updates: number(19), next: parts[21].date,
      logEnd: UpdateCursor(parts[20].text ?? ""), abandoned: counts(parts[13]), totals: counts(parts[18]),
      clockAhead: .milliseconds(number(1)), latency: latency, refusals: facts.errors, memory: facts.memory,
      evictionPolicy: facts.keepsKeys ? nil : facts.policy)
  }

  private static func queues(_ value: RedisValue) -> [FleetStatus.Queue] {
    (value.elements ?? []).compactMap { queue in
      guard let parts = queue.elements, parts.count == 3, let host = parts[0].text, let feeds = parts[1].integer,
        let since = parts[2].date
      else { return nil }
      return FleetStatus.Queue(host: host, feeds: Int(feeds), since: since)
    }
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
