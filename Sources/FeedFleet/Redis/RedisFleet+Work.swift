public import FeedPolling
import FeedRedis
public import FeedStream
public import Foundation
import ImageFeed

extension RedisFleet: WorkQueue {
  public func claim(_ wish: WorkClaim) -> AnyPublisher<WorkGrant, FleetError> {
    keeping(
      run(
        FleetScripts.claim,
        [
          RedisArgument(wish.count), .milliseconds(wish.lease), RedisArgument(wish.nonce), RedisArgument(wish.worker),
          .milliseconds(wish.patience),
        ])
    )
    .reading(in: self) { [self] reply in
      guard let parts = reply.elements, parts.count == 5, let now = parts[0].date, let granted = parts[2].elements,
        let damaged = parts[3].elements
      else { return nil }
      told = (now, uptime())
      var grant = WorkGrant(leases: [], now: now, next: parts[1].date)
      grant.wake = parts[4].integer.map { .milliseconds($0) }
      for one in granted {
        if let lease = Self.lease(one, for: wish.lease) {
          grant.leases.append(lease)
        } else {
          grant.problems.append(.damaged(place, "The lease for \(one.elements?.first?.text ?? "a host")"))
        }
      }
      grant.problems += damaged.map { .damaged(place, "The key \($0.text ?? "?")") }
      return grant
    }
  }

  private static func lease(_ value: RedisValue, for duration: Duration) -> WorkLease? {
    guard let parts = value.elements, parts.count == 7, let host = parts[0].text, let nonce = parts[1].text,
      let address = parts[2].text.flatMap({ URL(string: $0) }), let due = parts[3].date
    else { return nil }
    // An invalid record counts as none: the feed is requested as if for the first time.
    let record =
      parts[5].text.flatMap { FeedRecord($0, of: address) } ?? FeedRecord(health: FeedHealth(address: address))
    var lease = WorkLease(
      host: host, nonce: nonce, address: address, due: due, version: parts[4].version, record: record)
    lease.pace = HostPace(stored: parts[6].text)
    lease.duration = duration
    return lease
  }

  public func extend(_ lease: WorkLease, by duration: Duration) -> AnyPublisher<Bool, FleetError> {
    run(FleetScripts.extend, [RedisArgument(lease.host), RedisArgument(lease.nonce), .milliseconds(duration)])
      .reading(in: self) { $0.integer.map { $0 == 1 } }
  }

  public func complete(_ completion: WorkCompletion) -> AnyPublisher<WorkVerdict, FleetError> {
    if let error = refusal(of: completion.document) { return Fail(error: error).eraseToAnyPublisher() }
    let lease = completion.lease
    return run(
      FleetScripts.complete,
      [
        RedisArgument(lease.host), RedisArgument(lease.nonce), RedisArgument(lease.address.absoluteString),
        RedisArgument(completion.due.map { "\($0.milliseconds)" } ?? "\(FleetScripts.never)"),
        .milliseconds(completion.gap), RedisArgument(completion.pausedUntil.map { "\($0.milliseconds)" } ?? ""),
        RedisArgument(completion.reason), RedisArgument(completion.record.text),
        RedisArgument(lease.version?.description ?? ""), RedisArgument(completion.version?.description ?? ""),
        completion.document.map { RedisArgument($0) } ?? "", RedisArgument(completion.outcome.rawValue),
        .milliseconds(logDuration), RedisArgument(completion.host), RedisArgument(completion.pace?.stored ?? ""),
        RedisArgument(completion.trace ?? ""),
      ]
    )
    .reading(in: self) { reply in
      guard let parts = reply.elements, parts.count == 2, let id = parts[1].text else { return nil }
      switch parts[0].text {
      case "accepted": return .accepted(id.isEmpty ? nil : UpdateCursor(id))
      case "superseded": return .superseded
      case "lost": return .lost
      default: return nil
      }
    }
  }

  public func visit(
    _ host: String, with lease: WorkLease, by worker: String, for duration: Duration
  ) -> AnyPublisher<WorkVisit, FleetError> {
    run(
      FleetScripts.visit,
      [
        RedisArgument(host), RedisArgument(lease.nonce), .milliseconds(duration), RedisArgument(worker),
        RedisArgument(lease.address.absoluteString), .milliseconds(lease.duration),
      ]
    )
    .reading(in: self) { reply in
      guard let parts = reply.elements, let word = parts.first?.text else { return nil }
      switch (word, parts.count) {
      case ("granted", 1): return .granted
      case ("busy", 2): return parts[1].integer.map { .busy(for: .milliseconds($0)) }
      case ("paused", 3): return .paused(until: parts[1].date, reason: parts[2].text ?? "")
      default: return nil
      }
    }
  }

  public func endVisit(
    of host: String, with lease: WorkLease, gap: Duration, pause: HostPause?
  ) -> AnyPublisher<Void, FleetError> {
    run(
      FleetScripts.endVisit,
      [
        RedisArgument(host), RedisArgument(lease.nonce), .milliseconds(gap),
        RedisArgument(pause.map { "\($0.until.milliseconds)" } ?? ""), RedisArgument(pause?.reason ?? ""),
      ]
    )
    .map { _ in }.eraseToAnyPublisher()
  }

  public func add(_ feeds: [NewFeed]) -> AnyPublisher<Int, FleetError> {
    let arguments = feeds.flatMap { feed -> [RedisArgument] in
      [
        RedisArgument(feed.address.pollingHost), RedisArgument(feed.address.absoluteString),
        .milliseconds(feed.delay),
      ]
    }
    return keeping(run(FleetScripts.add, arguments)).reading(in: self) { $0.integer.map { Int($0) } }
  }

  public func remove(_ address: URL) -> AnyPublisher<Bool, FleetError> {
    run(FleetScripts.remove, [RedisArgument(address.pollingHost), RedisArgument(address.absoluteString)])
      .reading(in: self) { $0.integer.map { $0 == 1 } }
  }

  public func pause(
    _ host: String, for duration: Duration?, because reason: String
  ) -> AnyPublisher<Void, FleetError> {
    run(FleetScripts.pause, [RedisArgument(host), duration.map { .milliseconds($0) } ?? "", RedisArgument(reason)])
      .map { _ in }.eraseToAnyPublisher()
  }

  public func resume(_ host: String) -> AnyPublisher<Bool, FleetError> {
    run(FleetScripts.resume, [RedisArgument(host)]).reading(in: self) { $0.integer.map { $0 == 1 } }
  }
}
