import FeedRedis
public import FeedStream
public import Foundation
import ImageFeed

/// A fleet's work and updates in memory: for tests, and to see an engine's behavior in one place.
///
/// It does what the scripts of ``RedisFleet`` do, step by step, and answers later, as an engine does. A copy of its
/// ``State`` that is put back is a failover: what was written since is lost.
public final class MemoryFleet {
  struct Lease {
    var nonce: String
    var until: Date
    var worker: String
    var address: URL
  }

  struct Feed {
    var version: FeedVersion?
    var record: FeedRecord?
    var document: Chunk?
  }

  struct Host {
    /// The time when each feed is due; `distantFuture` for never.
    var feeds: [URL: Date] = [:]
    var opens = Date.distantFuture
    var lease: Lease?
    var pausedUntil: Date?
    var reason = ""
    /// Until when it is left alone after a request.
    var rests = Date.distantPast

    /// True when there is nothing to remember of it.
    func isOver(at now: Date) -> Bool {
      feeds.isEmpty && lease == nil && pausedUntil.map { $0 <= now } ?? true && rests <= now
    }

    var first: (address: URL, due: Date)? {
      feeds.min { ($0.value, $0.key.absoluteString) < ($1.value, $1.key.absoluteString) }.map { ($0.key, $0.value) }
    }

    mutating func open(notBefore earliest: Date, now: Date) {
      if let until = pausedUntil, until <= now { (pausedUntil, reason) = (nil, "") }
      opens = max(first?.due ?? .distantFuture, earliest, pausedUntil ?? .distantPast, rests)
    }
  }

  /// Everything that it keeps.
  public struct State {
    var hosts: [String: Host] = [:]
    var feeds: [URL: Feed] = [:]
    var homes: [URL: String] = [:]
    var done: [String: UpdateCursor?] = [:]
    var log: [(cursor: Int, update: FeedUpdate)] = []
    var last = 0
    var edition = 0

    /// The versions of all saved feeds.
    public var versions: [URL: FeedVersion] { feeds.compactMapValues(\.version) }

    /// The version of the latest update of a feed in the log.
    public func lastChange(of address: URL) -> FeedVersion? {
      log.last { $0.update.address == address }?.update.version
    }

    /// The saved feed; `nil` when nothing is saved of it.
    public func feed(_ address: URL) -> FleetFeed? {
      guard let feed = feeds[address], let record = feed.record else { return nil }
      return FleetFeed(address: address, record: record, version: feed.version, document: feed.document)
    }
  }

  let scheduler: any LoopScheduler
  let now: () -> Date
  private let latency: Duration
  var watchers: [ObjectIdentifier: () -> Void] = [:]

  public var state = State() { didSet { for watcher in watchers.values { watcher() } } }
  /// Fails every call while it is there: the engine is away.
  public var outage: FleetError?

  /// - Parameters:
  ///   - latency: how long after a call it is carried out, and again until its answer.
  ///   - now: its clock.
  public init(on scheduler: any LoopScheduler, latency: Duration = .zero, now: @escaping () -> Date) {
    self.scheduler = scheduler
    self.latency = latency
    self.now = now
  }

  /// The saved feed; `nil` when nothing is saved of it.
  public func feed(_ address: URL) -> FleetFeed? { state.feed(address) }

  func call<Value>(_ body: @escaping () -> Value) -> AnyPublisher<Value, FleetError> {
    Deferred { [self] in
      Future { [self] promise in
        _ = scheduler.laterOnce(latency) { [self] in
          let result: Result<Value, FleetError> = outage.map { .failure($0) } ?? .success(body())
          _ = scheduler.laterOnce(latency) { promise(result) }
        }
      }
    }
    .eraseToAnyPublisher()
  }
}

extension MemoryFleet: WorkQueue {
  public func claim(_ wish: WorkClaim) -> AnyPublisher<WorkGrant, FleetError> {
    call { [self] in
      let now = now()
      var leases: [WorkLease] = []
      let due = state.hosts.filter { $0.value.opens <= now }
        .sorted { ($0.value.opens, $0.key) < ($1.value.opens, $1.key) }.prefix(wish.count)
      for (name, _) in due {
        var host = state.hosts[name]!
        host.lease = nil
        if let first = host.first, first.due <= now, host.pausedUntil ?? .distantPast <= now {
          let lease = Lease(
            nonce: "\(wish.nonce).\(leases.count + 1)", until: now + wish.lease.seconds, worker: wish.worker,
            address: first.address)
          (host.lease, host.opens) = (lease, lease.until)
          let feed = state.feeds[first.address]
          leases.append(
            WorkLease(
              host: name, nonce: lease.nonce, address: first.address, due: first.due, version: feed?.version,
              record: feed?.record ?? FeedRecord(health: FeedHealth(address: first.address))))
        } else {
          host.open(notBefore: .distantPast, now: now)
        }
        state.hosts[name] = host
      }
      let next = state.hosts.values.map(\.opens).min()
      return WorkGrant(leases: leases, now: now, next: next == .distantFuture ? nil : next)
    }
  }

  public func extend(_ lease: WorkLease, by duration: Duration) -> AnyPublisher<Bool, FleetError> {
    call { [self] in
      guard var host = state.hosts[lease.host], host.lease?.nonce == lease.nonce else { return false }
      host.opens = now() + duration.seconds
      host.lease?.until = host.opens
      state.hosts[lease.host] = host
      return true
    }
  }

  public func complete(_ completion: WorkCompletion) -> AnyPublisher<WorkVerdict, FleetError> {
    call { [self] in carryOut(completion, now: now()) }
  }

  private func carryOut(_ completion: WorkCompletion, now: Date) -> WorkVerdict {
    let lease = completion.lease
    if let before = state.done[lease.nonce] { return .accepted(before) }
    guard var host = state.hosts[lease.host], host.lease?.nonce == lease.nonce else { return .lost }
    defer {
      host.rests = max(host.rests, now + completion.gap.seconds)
      host.open(notBefore: .distantPast, now: now)
      state.hosts[lease.host] = host
      if completion.host != lease.host { settle(completion, now: now) }
    }
    host.lease = nil
    guard host.feeds[lease.address] != nil else { return .lost }
    let (verdict, cursor) = save(completion)
    host.feeds[lease.address] = completion.host == lease.host ? completion.due ?? .distantFuture : nil
    if let end = completion.pausedUntil, end > host.pausedUntil ?? .distantPast {
      (host.pausedUntil, host.reason) = (end, completion.reason)
    }
    state.done[lease.nonce] = .some(cursor)
    return verdict
  }

  /// The feed has moved to another host.
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

  private func save(_ completion: WorkCompletion) -> (WorkVerdict, UpdateCursor?) {
    let address = completion.lease.address
    var feed = state.feeds[address] ?? Feed()
    if let version = completion.version, let document = completion.document {
      if let there = feed.version, there >= version { return (.superseded, nil) }
      (feed.version, feed.document) = (version, document)
    } else {
      guard feed.version == completion.lease.version else { return (.superseded, nil) }
      feed.version = completion.version ?? feed.version
    }
    feed.record = completion.record
    state.feeds[address] = feed
    guard completion.document != nil, let version = completion.version else { return (.accepted(nil), nil) }
    let cursor = note(FeedUpdate(address: address, version: version))
    return (.accepted(cursor), cursor)
  }

  public func visit(
    _ host: String, with lease: WorkLease, by worker: String, for duration: Duration
  ) -> AnyPublisher<WorkVisit, FleetError> {
    call { [self] in
      let now = now()
      var visited = state.hosts[host] ?? Host()
      if let until = visited.pausedUntil, until > now {
        return .paused(until: until == .distantFuture ? nil : until, reason: visited.reason)
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

  public func endVisit(of host: String, with lease: WorkLease, gap: Duration) -> AnyPublisher<Void, FleetError> {
    call { [self] in
      guard var visited = state.hosts[host], visited.lease?.nonce == lease.nonce else { return }
      visited.lease = nil
      visited.rests = max(visited.rests, now() + gap.seconds)
      visited.open(notBefore: .distantPast, now: now())
      state.hosts[host] = visited
    }
  }

  public func add(_ feeds: [NewFeed]) -> AnyPublisher<Int, FleetError> {
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

  public func remove(_ address: URL) -> AnyPublisher<Bool, FleetError> {
    call { [self] in
      state.feeds[address] = nil
      guard let name = state.homes.removeValue(forKey: address) else { return false }
      state.edition += 1
      state.hosts[name]?.feeds[address] = nil
      if state.hosts[name]?.lease == nil { state.hosts[name]?.open(notBefore: .distantPast, now: now()) }
      return true
    }
  }

  public func pause(
    _ host: String, for duration: Duration?, because reason: String
  ) -> AnyPublisher<Void, FleetError> {
    call { [self] in
      let now = self.now()
      state.hosts = state.hosts.filter { !$0.value.isOver(at: now) }
      state.hosts[host, default: Host()].pausedUntil = duration.map { now + $0.seconds } ?? .distantFuture
      state.hosts[host]?.reason = reason
      if state.hosts[host]?.lease == nil { state.hosts[host]?.open(notBefore: .distantPast, now: now) }
    }
  }

  public func resume(_ host: String) -> AnyPublisher<Bool, FleetError> {
    call { [self] in
      guard state.hosts[host]?.pausedUntil != nil else { return false }
      state.hosts[host]?.pausedUntil = nil
      state.hosts[host]?.reason = ""
      if state.hosts[host]?.lease == nil { state.hosts[host]?.open(notBefore: now(), now: now()) }
      return true
    }
  }
}

extension Duration {
  var seconds: Double { self / .seconds(1) }
}

extension LoopScheduler {
  /// Immediately after this turn when there is no delay.
  fileprivate func laterOnce(_ delay: Duration, _ action: @escaping () -> Void) -> (any Cancellable)? {
    guard delay > .zero else {
      schedule(action)
      return nil
    }
    return later(delay, action)
  }
}
