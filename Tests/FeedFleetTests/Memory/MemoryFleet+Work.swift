import FeedStream
import Foundation
import ImageFeed

@testable import FeedPolling

extension MemoryFleet: WorkQueue {
  func claim(_ wish: WorkClaim) -> AnyPublisher<WorkGrant, FleetError> {
    call { [self] in
      let now = now()
      var leases: [WorkLease] = []
      let due = state.hosts.filter { $0.value.opens <= now }
        .sorted { ($0.value.opens, $0.key) < ($1.value.opens, $1.key) }.prefix(wish.count)
      for (name, _) in due {
        var host = state.hosts[name]!
        var rests = Date.distantPast
        if let lost = host.lease {
          lapse(lost, on: &host, after: wish.lease, now: now)
          rests = host.rests
        }
        if let first = host.first, first.due <= now, host.pausedUntil ?? .distantPast <= now, rests <= now {
          let lease = Lease(
            nonce: "\(wish.nonce).\(leases.count + 1)", until: now + wish.lease.seconds, worker: wish.worker,
            address: first.address)
          (host.lease, host.opens) = (lease, lease.until)
          let feed = state.feeds[first.address]
          var granted = WorkLease(
            host: name, nonce: lease.nonce, address: first.address, due: first.due, version: feed?.version,
            record: feed?.record ?? FeedRecord(health: FeedHealth(address: first.address)))
          granted.pace = host.pace
          granted.duration = wish.lease
          leases.append(granted)
        } else {
          host.open(notBefore: .distantPast, now: now)
        }
        state.hosts[name] = host
      }
      let next = state.hosts.values.map(\.opens).min()
      var grant = WorkGrant(leases: leases, now: now, next: next == .distantFuture ? nil : next)
      state.sleepers[wish.worker] = nil
      if leases.count < wish.count { grant.wake = sleep(wish, until: grant.next, now: now) }
      return grant
    }
  }

  /// Ends a lost worker's lease. The worker may have sent its request, so the rest of the host's own pause applies.
  ///
  /// - Parameter length: the duration of a lease for one of the host's feeds. A visit may be as short as its request.
  private func lapse(_ lost: Lease, on host: inout Host, after length: Duration, now: Date) {
    let isVisit = host.feeds[lost.address] == nil
    host.lease = nil
    if !isVisit { abandon(lost.address, on: &host, now: now) }
    host.rests = max(host.rests, now + (host.pace?.rest ?? 0) - (isVisit ? 0 : length.seconds))
  }

  /// Handles a lease that expired without a sign of its worker. The worker's request may have killed it.
  private func abandon(_ address: URL, on host: inout Host, now: Date) {
    state.lapses[address, default: 0] += 1
    guard let wait = FleetRules.wait(after: state.lapses[address]!) else { return }
    host.feeds[address] = now + Double(wait) / 1000
  }

  /// One idle worker wakes when the next host is due; the others take turns.
  private func sleep(_ wish: WorkClaim, until next: Date?, now: Date) -> Duration {
    state.sleepers = state.sleepers.filter { $0.value > now - 2 }
    let longest = wish.patience.seconds
    var wake = max(state.sleepers.values.max() ?? now, now) + longest
    wake = min(wake, now + longest * Double(state.sleepers.count + 1))
    let slack = Double(FleetRules.slack) / 1000
    if let next, next < wake, !state.sleepers.values.contains(where: { $0 > now && $0 <= next + slack }) {
      wake = max(next, now + 0.005)
    }
    state.sleepers[wish.worker] = wake
    return .seconds(wake.timeIntervalSince(now))
  }

  func extend(_ lease: WorkLease, by duration: Duration) -> AnyPublisher<Bool, FleetError> {
    call { [self] in
      guard var host = state.hosts[lease.host], host.lease?.nonce == lease.nonce else { return false }
      host.opens = now() + duration.seconds
      host.lease?.until = host.opens
      state.hosts[lease.host] = host
      return true
    }
  }

  func complete(_ completion: WorkCompletion) -> AnyPublisher<WorkVerdict, FleetError> {
    guard completion.document?.count ?? 0 <= FleetRules.documentBytes else {
      return Fail(error: .store(.insertion(.other("the images are too large"), place: "memory"))).eraseToAnyPublisher()
    }
    return call { [self] in carryOut(completion, now: now()) }
  }

  private func carryOut(_ completion: WorkCompletion, now: Date) -> WorkVerdict {
    let lease = completion.lease
    if let before = state.done[lease.nonce] { return .accepted(before) }
    state.lapses[lease.address] = nil
    guard var host = state.hosts[lease.host], host.lease?.nonce == lease.nonce else { return .lost }
    defer {
      host.rests = max(host.rests, now + completion.gap.seconds)
      host.open(notBefore: .distantPast, now: now)
      state.hosts[lease.host] = host
      if completion.host != lease.host { settle(completion, now: now) }
    }
    host.lease = nil
    // Even if the feed was removed, its host's pause and pace hold for the host's other feeds.
    if let end = completion.pausedUntil, end > host.pausedUntil ?? .distantPast {
      (host.pausedUntil, host.reason) = (end, completion.reason)
    }
    host.pace = completion.pace
    guard host.feeds[lease.address] != nil else { return .lost }
    let (verdict, cursor) = save(completion, now: now)
    host.feeds[lease.address] = completion.host == lease.host ? completion.due ?? .distantFuture : nil
    state.done[lease.nonce] = .some(cursor)
    return verdict
  }

  /// Moves a feed whose host has changed.
  private func settle(_ completion: WorkCompletion, now: Date) {
    guard state.done[completion.lease.nonce] != nil else { return }
    state.homes[completion.lease.address] = completion.host
    state.edition += 1
    var host = state.hosts[completion.host] ?? Host()
    host.feeds[completion.lease.address] = completion.due ?? .distantFuture
    host.rests = max(host.rests, now + completion.gap.seconds)
    if host.lease == nil { host.open(notBefore: .distantPast, now: now) }
    state.hosts[completion.host] = host
  }

  private func save(_ completion: WorkCompletion, now: Date) -> (WorkVerdict, UpdateCursor?) {
    let address = completion.lease.address
    var feed = state.feeds[address] ?? Feed()
    if let version = completion.version, let document = completion.document {
      let future = FeedVersion(now + Double(FleetRules.future) / 1000)
      if let there = feed.version, there >= version, there <= future { return (.superseded, nil) }
      (feed.version, feed.document) = (version, document)
    } else {
      guard feed.version == completion.lease.version else { return (.superseded, nil) }
      feed.version = completion.version ?? feed.version
    }
    feed.record = completion.record
    state.feeds[address] = feed
    guard completion.document != nil, let version = completion.version else { return (.accepted(nil), nil) }
    let cursor = note(FeedUpdate(address: address, version: version, trace: completion.trace))
    return (.accepted(cursor), cursor)
  }

  func visit(
    _ host: String, with lease: WorkLease, by worker: String, for duration: Duration
  ) -> AnyPublisher<WorkVisit, FleetError> {
    call { [self] in
      let now = now()
      var visited = state.hosts[host] ?? Host()
      if let until = visited.pausedUntil, until > now {
        return .paused(until: until == .distantFuture ? nil : until, reason: visited.reason)
      }
      if let other = visited.lease, other.nonce != lease.nonce, other.until <= now {
        lapse(other, on: &visited, after: lease.duration, now: now)
        visited.open(notBefore: .distantPast, now: now)
        state.hosts[host] = visited
      }
      var busy = visited.rests
      if let other = visited.lease, other.nonce != lease.nonce { busy = max(busy, other.until) }
      if busy > now { return .busy(for: .seconds(busy.timeIntervalSince(now))) }
      visited.lease = Lease(nonce: lease.nonce, until: now + duration.seconds, worker: worker, address: lease.address)
      visited.opens = now + duration.seconds
      state.hosts[host] = visited
      return .granted
    }
  }

  func endVisit(
    of host: String, with lease: WorkLease, gap: Duration, pause: HostPause?
  ) -> AnyPublisher<Void, FleetError> {
    call { [self] in
      guard var visited = state.hosts[host], visited.lease?.nonce == lease.nonce else { return }
      visited.lease = nil
      if let pause, pause.until > visited.pausedUntil ?? .distantPast {
        (visited.pausedUntil, visited.reason) = (pause.until, pause.reason)
      }
      visited.rests = max(visited.rests, now() + max(gap.seconds, visited.pace?.rest ?? 0))
      visited.open(notBefore: .distantPast, now: now())
      state.hosts[host] = visited
    }
  }

  func add(_ feeds: [NewFeed]) -> AnyPublisher<Int, FleetError> {
    call { [self] in
      let now = now()
      var added = 0
      for feed in feeds where state.homes[feed.address] == nil {
        let name = feed.address.pollingHost
        state.homes[feed.address] = name
        state.hosts[name, default: Host()].feeds[feed.address] = now + feed.delay.seconds
        if state.hosts[name]?.lease == nil { state.hosts[name]?.open(notBefore: .distantPast, now: now) }
        added += 1
      }
      if added > 0 { state.edition += 1 }
      return added
    }
  }

  func remove(_ address: URL) -> AnyPublisher<Bool, FleetError> {
    call { [self] in
      state.feeds[address] = nil
      state.lapses[address] = nil
      guard let name = state.homes.removeValue(forKey: address) else { return false }
      state.edition += 1
      state.hosts[name]?.feeds[address] = nil
      if state.hosts[name]?.lease == nil { state.hosts[name]?.open(notBefore: .distantPast, now: now()) }
      return true
    }
  }

  func pause(
    _ host: String, for duration: Duration?, because reason: String
  ) -> AnyPublisher<Void, FleetError> {
    call { [self] in
      let now = self.now()
      state.hosts = state.hosts.filter { !$0.value.isOver(at: now) }
      let end = duration.map { now + $0.seconds } ?? .distantFuture
      var paused = state.hosts[host] ?? Host()
      if end >= paused.pausedUntil ?? .distantPast { (paused.pausedUntil, paused.reason) = (end, reason) }
      if paused.lease == nil { paused.open(notBefore: .distantPast, now: now) }
      state.hosts[host] = paused
    }
  }

  func resume(_ host: String) -> AnyPublisher<Bool, FleetError> {
    call { [self] in
      guard state.hosts[host]?.pausedUntil != nil else { return false }
      state.hosts[host]?.pausedUntil = nil
      state.hosts[host]?.reason = ""
      if state.hosts[host]?.lease == nil { state.hosts[host]?.open(notBefore: now(), now: now()) }
      return true
    }
  }
}
