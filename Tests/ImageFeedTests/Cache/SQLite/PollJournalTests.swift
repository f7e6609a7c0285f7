import FeedPolling
import Foundation
import GRDB
import TestSupport
import Testing

@testable import ImageFeed

/// The notes of polls, before and after they are folded into the tables.
@Suite(.settled) struct PollJournalTests {
  private let folder = TemporaryFolder()
  private var path: String { folder.file() }
  private let tag = FeedValidators(etag: "\"1\"", digest: BodyDigest(value: .max), wholeAsked: noon)

  /// A second store on the file, which is like another process to SQLite.
  private func another() -> SQLiteFeedStore {
    SQLiteFeedStore(path: path) { Issue.record("The file was set aside as \($0)") }
  }

  private func count(_ table: String) throws -> Int? {
    let queue = try DatabaseQueue(path: path)
    defer { try? queue.close() }
    return try queue.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM \(table)") }
  }

  private func execute(_ sql: String) throws {
    let queue = try DatabaseQueue(path: path)
    defer { try? queue.close() }
    try queue.writeWithoutTransaction { try $0.execute(sql: sql) }
  }

  private func feed(_ number: Int) -> URL { URL(string: "https://host\(number % 50).com/feed/\(number)")! }

  private func save(_ number: Int, in store: SQLiteFeedStore) throws {
    _ = try store.replace(
      for: feed(number), with: CachedFeed(images: makeFeed().images, timestamp: noon, validators: tag), now: noon)
  }

  /// Polls a feed that has not changed, `seconds` after noon.
  private func poll(_ number: Int, after seconds: Double, in store: SQLiteFeedStore, pause: Double? = nil) throws {
    let (now, address) = (noon + seconds, feed(number))
    let known = try store.health(of: [address])[0] ?? FeedHealth(address: address)
    let claim = PollClaim(
      feed: known, host: address.pollingHost, now: now, lease: .seconds(0), dueIfLost: now + 3600)
    guard case .granted(let lease) = try store.claim(claim) else {
      Issue.record("feed \(number) was not to be asked for at \(seconds)")
      return
    }
    #expect(lease.since == tag)
    var health = lease.feed
    health.polls += 1
    health.outcome = "asked at \(seconds)"
    health.due = now + 60
    var host = HostHealth(name: address.pollingHost)
    host.next = now
    host.pausedUntil = pause.map { now + $0 }
    let decision = PollDecision(
      time: now, request: "changes", outcome: "asked at \(seconds)", due: health.due, rule: .interval, reason: "so")
    let record = PollRecord(feed: health, host: host, decision: decision, outcome: .unchanged)
    let renewal = FeedRenewal(timestamp: now, since: tag, validators: tag)
    #expect(try store.complete(PollCompletion(record, renewing: renewal, now: now)) == record)
  }

  private func check(_ number: Int, asked seconds: [Double], in store: SQLiteFeedStore) throws {
    let explanation = try FeedExplanation(of: feed(number), in: store)
    #expect(explanation.health?.outcome == "asked at \(seconds.last!)")
    #expect(explanation.health?.polls == seconds.count)
    #expect(explanation.saved?.timestamp == noon + seconds.last!)
    #expect(explanation.decisions.map(\.time) == seconds.suffix(PollDecision.kept).map { noon + $0 })
    let saved = try #require(try store.retrieve(for: feed(number)))
    #expect(saved.timestamp == noon + seconds.last! && saved.validators == tag)
    #expect(try store.summaries().first { $0.address == feed(number) }?.timestamp == noon + seconds.last!)
  }

  @Test func `other stores read what a poll recorded in the journal, without table writes`() throws {
    let (store, other) = (another(), another())
    try save(0, in: store)
    try poll(0, after: 10, in: store)
    #expect(try count("journal") == 2 && count("note WHERE kind = 1") == 0 && count("note WHERE kind = 2") == 0)
    try check(0, asked: [10], in: other)
    try poll(0, after: 70, in: other)
    try check(0, asked: [10, 70], in: store)
    try poll(0, after: 140, in: store, pause: 600)
    #expect(try other.health(ofHost: "host0.com")?.pausedUntil == noon + 740)
    #expect(try count("note WHERE kind = 1") == 0)
  }

  @Test func `any other change writes the journal's entries to the tables first`() throws {
    let (store, other) = (another(), another())
    try save(0, in: store)
    try poll(0, after: 10, in: store)
    try save(1, in: other)
    #expect(
      try count("journal") == 0 && count("note WHERE kind = 1") == 1 && count("note WHERE kind = 129") == 1
        && count("note WHERE kind = 2") == 1)
    for each in [store, other, another()] { try check(0, asked: [10], in: each) }
    try poll(1, after: 20, in: store)
    #expect(try other.delete(for: feed(1)))
    #expect(try store.health(of: [feed(0), feed(1)]).map { $0 == nil } == [false, true])
  }

  @Test func `hundreds of polls are written to the tables together, and none is lost`() throws {
    let store = another()
    let feeds = 100
    for number in 0..<feeds { try save(number, in: store) }
    var wasFolded = false
    var rounds: [Double] = []
    while !wasFolded || rounds.count < 25 {
      rounds.append(100 * Double(rounds.count + 1))
      for number in 0..<feeds { try poll(number, after: rounds.last! + Double(number / 50), in: store) }
      if try count("note WHERE kind = 1") == feeds { wasFolded = true }
      guard rounds.count < 100 else {
        Issue.record("nothing was folded")
        return
      }
    }
    for number in [0, 49, 99] {
      for each in [store, another()] { try check(number, asked: rounds.map { $0 + Double(number / 50) }, in: each) }
    }
  }

  @Test func `a poll whose write failed isn't remembered`() throws {
    let store = another()
    try save(0, in: store)
    try poll(0, after: 10, in: store)
    try execute("CREATE TRIGGER no_insert BEFORE INSERT ON journal BEGIN SELECT RAISE(ABORT, 'as told'); END")
    let known = try #require(try store.health(of: [feed(0)])[0])
    let claim = PollClaim(
      feed: known, host: "host0.com", now: noon + 70, lease: .seconds(35), dueIfLost: noon + 3600)
    #expect(throws: FeedStoreError.self) { try store.claim(claim) }
    try check(0, asked: [10], in: store)
    try execute("DROP TRIGGER no_insert")
    try poll(0, after: 71, in: store)
    try check(0, asked: [10, 71], in: another())
  }

  @Test func `a poll doesn't renew a feed that was replaced meanwhile`() throws {
    let (store, other) = (another(), another())
    try save(0, in: store)
    try poll(0, after: 10, in: store)
    let known = try #require(try store.health(of: [feed(0)])[0])
    let claim = PollClaim(
      feed: known, host: "host0.com", now: noon + 70, lease: .seconds(35), dueIfLost: noon + 3600)
    guard case .granted(let lease) = try store.claim(claim) else {
      Issue.record("it is due")
      return
    }
    let newer = FeedValidators(etag: "\"2\"")
    _ = try other.replace(
      for: feed(0), with: CachedFeed(images: makeFeed(2).images, timestamp: noon + 75, validators: newer),
      now: noon + 75)
    let decision = PollDecision(time: noon + 70, request: "", outcome: "", due: nil, rule: .interval, reason: "")
    let record = PollRecord(
      feed: lease.feed, host: HostHealth(name: "host0.com"), decision: decision, outcome: .unchanged)
    let renewal = FeedRenewal(timestamp: noon + 70, since: tag, validators: tag)
    #expect(try store.complete(PollCompletion(record, renewing: renewal, now: noon + 76)) == nil)
    #expect(try store.retrieve(for: feed(0))?.validators == newer)
    #expect(try store.decisions(for: feed(0)).count == 1)
  }

  @Test func `a damaged journal is ignored, and all other data stays readable`() throws {
    let store = another()
    try save(0, in: store)
    try poll(0, after: 10, in: store)
    try execute("UPDATE journal SET entries = substr(entries, 1, length(entries) - 1)")
    #expect(try another().retrieve(for: feed(0))?.images == makeFeed().images)
    try execute("UPDATE journal SET entries = x'ffffffffff'")
    #expect(try another().health(of: [feed(0)]) == [nil])
    #expect(try another().retrieve(for: feed(0))?.timestamp == noon)
    try save(1, in: another())
    #expect(try count("journal") == 0)
  }
}
