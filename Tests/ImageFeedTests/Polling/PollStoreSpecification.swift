import FeedPolling
import FeedStreamTesting
import Foundation
import ImageFeed
import ImageFeedTesting
import Synchronization
import TestSupport
import Testing

/// A store that the specification tests.
enum PollStoreKind: String, CaseIterable, CustomTestStringConvertible {
  case memory, sqlite, virtual
  var testDescription: String { rawValue }
}

/// The behavior of every store of polling.
@Suite(.settled) struct PollStoreSpecification {
  private typealias Store = FeedStore & PollStore
  private let folder = TemporaryFolder()
  private let host = "example.com"
  private let tag = FeedValidators(etag: "\"1\"", digest: BodyDigest(value: 1), wholeAsked: noon)

  private func store(_ kind: PollStoreKind) -> any Store {
    switch kind {
    case .memory: InMemoryFeedStore()
    case .sqlite: SQLiteFeedStore(path: folder.file()) { Issue.record("The file was set aside as \($0)") }
    case .virtual: VirtualDisk(on: VirtualTimeScheduler())
    }
  }

  /// Claims a feed, as a process with the store's current state.
  private func claim(
    _ url: URL = address, after seconds: Double = 0, lasting lease: Duration = .seconds(35), in store: any Store
  ) throws -> PollVerdict? {
    let known = try store.health(of: [url])[0] ?? FeedHealth(address: url)
    return try store.claim(
      PollClaim(feed: known, host: host, now: noon + seconds, lease: lease, dueIfLost: noon + seconds + 3600))
  }

  private func lease(
    _ url: URL = address, after seconds: Double = 0, in store: any Store
  ) throws -> PollLease {
    guard case .granted(let lease) = try claim(url, after: seconds, in: store) else {
      throw NotGranted()
    }
    return lease
  }

  private struct NotGranted: Error {}

  /// Completes a lease, after which the feed is due in a minute.
  @discardableResult private func complete(
    _ lease: PollLease, after seconds: Double, _ change: PollCompletion.Change? = nil, wasRead: Bool = true,
    pause: Double? = nil, in store: any Store
  ) throws -> PollRecord? {
    let completion = PollCompletion(of: lease, change, wasRead: wasRead, now: noon + seconds) { [host] replacement in
      var (health, record) = (lease.feed, HostHealth(name: host))
      health.polls += 1
      (health.begun, health.due) = (nil, noon + seconds + 60)
      health.outcome = replacement.map { "\($0)" } ?? "nothing saved"
      (record.next, record.pausedUntil) = (noon + seconds + 1, pause.map { noon + seconds + $0 })
      let decision = PollDecision(
        time: noon + seconds, request: "changes", outcome: health.outcome, due: health.due, rule: .interval,
        reason: "so")
      return PollRecord(feed: health, host: record, decision: decision, outcome: .unchanged)
    }
    return try store.complete(completion)
  }

  @Test(arguments: PollStoreKind.allCases)
  func `a lease contains its feed's state and validators`(_ kind: PollStoreKind) throws {
    let store = store(kind)
    let first = try lease(in: store)
    #expect(first.since == FeedValidators() && first.saved == FeedValidators() && first.feed.asked == noon)
    let feed = CachedFeed(images: makeFeed().images, timestamp: noon, validators: tag)
    try complete(first, after: 1, .replacement(feed), in: store)
    let second = try lease(after: 70, in: store)
    #expect(second.since == tag && second.saved == tag && second.askedForAllBefore == noon)
    #expect(second.feed.polls == 1 && second.feed.hadValidators == true && second.feed.begun == noon + 70)
  }

  @Test(arguments: PollStoreKind.allCases)
  func `a completion saves the feed, the record and the due time together`(_ kind: PollStoreKind) throws {
    let store = store(kind)
    let feed = CachedFeed(images: makeFeed().images, timestamp: noon, validators: tag)
    let record = try complete(try lease(in: store), after: 1, .replacement(feed), in: store)
    #expect(record?.feed.outcome == "replaced")
    #expect(try store.retrieve(for: address) == feed)
    #expect(try store.health(of: [address])[0] == record?.feed)
    #expect(try store.health(of: [address])[0]?.due == noon + 61)
    #expect(try store.decisions(for: address) == [try #require(record).decision])
    // The same images again aren't a change, nor is a renewal.
    let same = CachedFeed(images: makeFeed().images, timestamp: noon + 70, validators: tag)
    #expect(
      try complete(try lease(after: 70, in: store), after: 71, .replacement(same), in: store)?.feed.outcome == "renewed"
    )
    let renewal = FeedRenewal(timestamp: noon + 140, since: tag, validators: tag)
    #expect(
      try complete(try lease(after: 140, in: store), after: 141, .renewal(renewal), wasRead: false, in: store)?
        .feed.outcome == "renewed")
    #expect(try store.retrieve(for: address)?.timestamp == noon + 140)
  }

  @Test(arguments: PollStoreKind.allCases)
  func `a feed that wasn't read is renewed only if it is still the saved one`(_ kind: PollStoreKind) throws {
    let store = store(kind)
    let feed = CachedFeed(images: makeFeed().images, timestamp: noon, validators: tag)
    try complete(try lease(in: store), after: 1, .replacement(feed), in: store)
    let late = try lease(after: 70, in: store)
    let newer = CachedFeed(
      images: makeFeed(2).images, timestamp: noon + 71, validators: FeedValidators(etag: "\"2\""))
    _ = try store.replace(for: address, with: newer, now: noon + 71)
    let renewal = FeedRenewal(timestamp: noon + 70, since: tag, validators: tag)
    #expect(try complete(late, after: 72, .renewal(renewal), wasRead: false, in: store) == nil)
    #expect(try store.retrieve(for: address) == newer)
    #expect(try store.decisions(for: address).count == 1)
    #expect(try store.health(of: [address])[0]?.begun == noon + 70, "the lease is not over")
    #expect(try complete(late, after: 73, .renewal(renewal), in: store) != nil)
    #expect(try store.retrieve(for: address) == newer)
  }

  @Test(arguments: PollStoreKind.allCases)
  func `a completion that comes after a later poll doesn't replace that poll's state`(_ kind: PollStoreKind) throws {
    let store = store(kind)
    let late = try lease(in: store)
    try complete(try lease(after: 3700, in: store), after: 3701, in: store)
    var state = try #require(try store.health(of: [address])[0])
    let record = try complete(late, after: 3702, in: store)
    state.polls += 1
    #expect(try store.health(of: [address])[0] == state && record?.feed == state)
    #expect(try store.decisions(for: address).count == 2)
  }

  @Test(arguments: [StoreKind.memory, .sqlite])
  func `a document that can't be saved doesn't keep other work from being saved with it`(_ kind: StoreKind) throws {
    let place = kind.make()
    let store = try #require(place.store as? any Store)
    func completion(_ url: URL, _ feed: CachedFeed) -> PollWork {
      let lease = PollLease(feed: FeedHealth(address: url), host: host, saved: FeedValidators(), since: nil)
      let decision = PollDecision(
        time: noon, request: "changes", outcome: "new", due: nil, rule: .interval, reason: "so")
      let record = PollRecord(
        feed: lease.feed, host: HostHealth(name: host), decision: decision, outcome: .changed)
      return .completion(PollCompletion(of: lease, .replacement(feed), now: noon + 1) { _ in record })
    }
    let (saved, newer) = (makeFeed(3), makeFeed(3, from: 10, at: noon + 1))
    try store.replace(for: address, with: saved)
    try place.fail(.deletion)
    let claim = PollClaim(
      feed: FeedHealth(address: URL(string: "https://example.net/feed")!), host: "example.net", now: noon,
      lease: .seconds(35), dueIfLost: noon + 3600)
    let answers = store.carryOut([
      completion(address, newer), completion(otherAddress, makeFeed(2)), .claim(claim),
    ])
    #expect(answers.map { (try? $0.get()) != nil } == [false, true, true])
    #expect(try store.retrieve(for: address) == saved)
    #expect(try store.retrieve(for: otherAddress)?.images == makeFeed(2).images)
    #expect(try store.health(ofHost: "example.net") != nil)
    try place.recover()
    #expect((try? store.carryOut([completion(address, newer)])[0].get()) != nil)
  }

  @Test(arguments: PollStoreKind.allCases)
  func `a host has one lease until it is completed or released`(_ kind: PollStoreKind) throws {
    let store = store(kind)
    let other = URL(string: "https://example.com/other")!
    let first = try lease(in: store)
    guard case .hostIsClosed(let closed)? = try claim(other, after: 10, in: store) else {
      Issue.record("two leases of a host")
      return
    }
    #expect(closed.next == noon + 35)
    try complete(first, after: 11, in: store)
    let second = try lease(other, after: 12, in: store)
    var record = HostHealth(name: host)
    record.next = noon + 14
    // The first reservation is over, so its late release doesn't free the second one.
    _ = store.carryOut([.release(HostRelease(record, reserved: try #require(first.reserved), ended: noon + 13))])
    #expect(try store.health(ofHost: host)?.next == second.reserved)
    _ = store.carryOut([.release(HostRelease(record, reserved: try #require(second.reserved), ended: noon + 13))])
    #expect(try store.health(ofHost: host)?.next == noon + 14)
    #expect(second.feed.address == other)
    // The lease of a process that sends nothing more ends when its time is over.
    _ = try lease(URL(string: "https://example.com/third")!, after: 15, in: store)
    guard case .granted? = try claim(URL(string: "https://example.com/fourth")!, after: 51, in: store) else {
      Issue.record("a lease without an end")
      return
    }
  }

  @Test(arguments: PollStoreKind.allCases)
  func `a poll that freed its host early doesn't shorten the rest after a later request`(_ kind: PollStoreKind) throws {
    let store = store(kind)
    let first = try lease(in: store)
    var freed = HostHealth(name: host)
    freed.next = noon + 1
    _ = store.carryOut([.release(HostRelease(freed, reserved: try #require(first.reserved), ended: noon))])
    let visit = HostVisit(host: host, now: noon + 2, lease: .seconds(10))
    _ = store.carryOut([.visit(visit)])
    try complete(first, after: 3, in: store)
    #expect(try store.health(ofHost: host)?.next == visit.reserved)
    freed.next = noon + 60
    _ = store.carryOut([.release(HostRelease(freed, reserved: visit.reserved, ended: noon + 4))])
    try complete(first, after: 5, in: store)
    #expect(try store.health(ofHost: host)?.next == noon + 60)
  }

  @Test(arguments: PollStoreKind.allCases)
  func `a pause applies to all feeds of its host, and the later end wins`(_ kind: PollStoreKind) throws {
    let store = store(kind)
    try complete(try lease(in: store), after: 1, pause: 7200, in: store)
    var shorter = HostHealth(name: host)
    shorter.pausedUntil = noon + 100
    _ = store.carryOut([.release(HostRelease(shorter, reserved: noon, ended: noon))])
    #expect(try store.health(ofHost: host)?.pausedUntil == noon + 7201)
    guard case .hostIsClosed? = try claim(URL(string: "https://example.com/other")!, after: 3600, in: store) else {
      Issue.record("the pause was forgotten")
      return
    }
  }

  @Test(arguments: PollStoreKind.allCases)
  func `the loss of a hub's lease is saved, unless the feed has been requested since`(_ kind: PollStoreKind) throws {
    let store = store(kind)
    var lost = try #require(try complete(try lease(in: store), after: 1, in: store)).feed
    lost.due = noon + 30
    _ = store.carryOut([.leaseLost(lost)])
    #expect(try store.health(of: [address])[0] == lost)
    try complete(try lease(after: 70, in: store), after: 71, in: store)
    _ = store.carryOut([.leaseLost(lost)])
    #expect(try store.health(of: [address])[0]?.due == noon + 131)
  }

  @Test(arguments: PollStoreKind.allCases)
  func `the latest twenty decisions are kept, oldest first`(_ kind: PollStoreKind) throws {
    let store = store(kind)
    for number in 0..<25 {
      let start = Double(number) * 70
      try complete(try lease(after: start, in: store), after: start + 1, in: store)
    }
    let times = try store.decisions(for: address).map(\.time)
    #expect(times == (5..<25).map { noon + Double($0) * 70 + 1 })
  }

  @Test(arguments: PollStoreKind.allCases)
  func `a feed's polling state is deleted with the feed, unless the feed has expired`(_ kind: PollStoreKind) throws {
    let store = store(kind)
    func poll(after seconds: Double) throws {
      let feed = CachedFeed(images: makeFeed().images, timestamp: noon, validators: tag)
      try complete(try lease(after: seconds, in: store), after: seconds + 1, .replacement(feed), in: store)
    }
    try poll(after: 0)
    #expect(try store.delete(for: address, if: .timestamp(noon)))
    #expect(try store.health(of: [address])[0]?.polls == 1)
    try poll(after: 70)
    #expect(try store.delete(for: address))
    #expect(try store.health(of: [address]) == [nil])
    #expect(try store.decisions(for: address).isEmpty)
    try poll(after: 140)
    try store.deleteAll()
    #expect(try store.health(of: [address]) == [nil])
    #expect(try store.health(ofHost: host) != nil)
  }

  @Test func `a crash before the commit of a deletion keeps the polling state`() throws {
    let disk = VirtualDisk(on: VirtualTimeScheduler())
    let feed = CachedFeed(images: makeFeed().images, timestamp: noon, validators: tag)
    try complete(try lease(in: disk), after: 1, .replacement(feed), in: disk)
    disk.setFaults { step, _ in step == .beforeCommit ? .crash : nil }
    #expect(throws: FeedStoreError.self) { try disk.delete(for: address) }
    #expect(try disk.restarted().health(of: [address])[0]?.polls == 1)
  }

  @Test func `a crash before the commit saves neither the feed nor its record`() throws {
    for step in [DiskStep.remove, .write, .beforeCommit, .afterCommit] {
      let disk = VirtualDisk(on: VirtualTimeScheduler())
      let feed = CachedFeed(images: makeFeed().images, timestamp: noon, validators: tag)
      try complete(try lease(in: disk), after: 1, .replacement(feed), in: disk)
      let late = try lease(after: 70, in: disk)
      disk.setFaults { present, _ in present == step ? .crash : nil }
      let newer = CachedFeed(images: makeFeed(2).images, timestamp: noon + 70, validators: tag)
      #expect(throws: FeedStoreError.self) { try complete(late, after: 71, .replacement(newer), in: disk) }
      disk.setFaults { _, _ in nil }
      let next = disk.restarted()
      let isDone = step == .afterCommit
      #expect(try next.retrieve(for: address) == (isDone ? newer : feed), "\(step)")
      #expect(try next.health(of: [address])[0]?.polls == (isDone ? 2 : 1), "\(step)")
      #expect(try next.decisions(for: address).count == (isDone ? 2 : 1), "\(step)")
    }
  }

  @Test func `damage before the commit of a poll damages the new feed, and each step is passed once`() throws {
    let disk = VirtualDisk(on: VirtualTimeScheduler())
    let feed = CachedFeed(images: makeFeed().images, timestamp: noon, validators: tag)
    try complete(try lease(in: disk), after: 1, .replacement(feed), in: disk)
    let late = try lease(after: 70, in: disk)
    let writes = Atomic(0)
    disk.setFaults { step, _ in
      if step == .write { writes.add(1, ordering: .relaxed) }
      return step == .beforeCommit ? .corrupt : nil
    }
    let newer = CachedFeed(images: makeFeed(2).images, timestamp: noon + 70, validators: tag)
    try complete(late, after: 71, .replacement(newer), in: disk)
    #expect(disk.isDamaged(at: address))
    #expect(writes.load(ordering: .relaxed) == 1)
  }
}
