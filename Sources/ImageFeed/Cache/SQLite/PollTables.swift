import Foundation
import GRDB
import GRDBSQLite

/// The statements about polling; they run inside a transaction, as those of ``FeedTables`` do.
///
/// Health is kept as bytes (``PollFields``): it grows with every release, is read and written whole, and nothing looks for a
/// part of it.
extension FeedTables {
  func feedHealth(of address: URL) throws -> FeedHealth? {
    let address = address.absoluteString
    if let known = journal.feeds[address] {
      if known.isRead { return known.health }
      if let stored = known.stored { return stored.withUnsafeBytes { FeedHealth(stored: $0) } }
    }
    return try health(FeedHealth.self, "SELECT health FROM poll WHERE address = ?", of: address)
  }

  func hostHealth(of name: String) throws -> HostHealth? {
    if let known = journal.hosts[name], known.isRead { return known.health }
    return try health(HostHealth.self, "SELECT health FROM host WHERE name = ?", of: name)
  }

  func decisions(for address: URL) throws -> [PollDecision] {
    let row = RawStatement(
      try db.cachedStatement(sql: "SELECT place, decision FROM decision WHERE address = ?").sqliteStatement)
    defer { row.clear() }
    row.bind(address.absoluteString, at: 1)
    var decisions: [Int: PollDecision] = [:]
    while try db.step(row, expecting: SQLITE_ROW) {
      if let place = row.integer(0), let decision = PollDecision(stored: row.bytes(1)) { decisions[place] = decision }
    }
    for (place, stored) in journal.feeds[address.absoluteString]?.decisions ?? [] {
      if let decision = stored.withUnsafeBytes({ PollDecision(stored: $0) }) { decisions[place] = decision }
    }
    return decisions.values.sorted { $0.time < $1.time }
  }

  func verdict(on claim: PollClaim) throws -> PollVerdict {
    let (feed, host) = (try known(claim.feed.address), try known(host: claim.host))
    let (verdict, feedHealth, hostHealth) = claim.decide(
      feed.health, host.health, feed.row?.validators ?? FeedValidators())
    guard case .granted = verdict else { return verdict }
    note(feedHealth, in: feed, hostHealth, in: host)
    return verdict
  }

  /// - Returns: `nil` when what is to be renewed was not read, and is not what is saved: then nothing is noted.
  func complete(
    _ completion: PollCompletion, keeping policy: HistoryPolicy, _ step: inout FeedStoreError.Step
  ) throws -> PollRecord? {
    var replacement: FeedReplacement?
    var renewal: Renewal?
    if case .replacement(let new)? = completion.change {
      replacement = try replace(completion.address, with: new, keeping: policy, now: completion.now, &step)
      journal.forgetRow(of: completion.address.absoluteString)
    }
    let feed = try known(completion.address)
    if case .renewal(let wanted)? = completion.change {
      if let row = feed.row, row.validators == wanted.since {
        let isSuperseded = FeedCachePolicy.isSuperseded(wanted.timestamp, by: row.timestamp, now: completion.now)
        if !isSuperseded { renewal = Renewal(timestamp: wanted.timestamp, validators: wanted.validators) }
      } else if !completion.wasRead {
        return nil
      }
      replacement = .renewed
    }
    let record = completion.record(replacement)
    let host = try known(host: record.host.name)
    note(
      record.feed, in: feed, record.host.merged(into: host.health), in: host, renewal,
      (record.decision.stored, record.feed.polls % PollDecision.kept))
    return record
  }

  func release(_ health: HostHealth) throws {
    let host = try known(host: health.name)
    let merged = health.merged(into: host.health)
    let stored = merged.stored
    (host.health, host.stored) = (merged, stored)
    PollEntry(host: stored).append(to: &journal.entries)
  }

  /// The notes on a feed, from the tables if nobody has asked before.
  private func known(_ address: URL) throws -> PollJournal.Feed {
    let feed = journal.feed(address.absoluteString)
    guard !feed.isRead else { return feed }
    (feed.health, feed.row) = (try feedHealth(of: address), try feedRow(for: address))
    feed.isRead = true
    return feed
  }

  private func known(host name: String) throws -> PollJournal.Host {
    let host = journal.host(name)
    guard !host.isRead else { return host }
    host.health = try hostHealth(of: name)
    host.isRead = true
    return host
  }

  private func note(
    _ feedHealth: FeedHealth, in feed: PollJournal.Feed, _ hostHealth: HostHealth, in host: PollJournal.Host,
    _ renewal: Renewal? = nil, _ decision: (stored: [UInt8], place: Int)? = nil
  ) {
    let entry = PollEntry(
      address: feedHealth.address.absoluteString, health: feedHealth.stored, renewal: renewal,
      decision: decision?.stored, place: decision?.place, host: hostHealth.stored)
    entry.append(to: &journal.entries)
    (feed.health, feed.stored) = (feedHealth, entry.health)
    (host.health, host.stored) = (hostHealth, entry.host)
    if let renewal {
      feed.row?.renew(renewal)
      feed.renewal = renewal
    }
    if let decision { feed.note(decision.stored, at: decision.place) }
  }

  /// Forgets how polling one feed went, not the pause of its host.
  func deletePoll(of address: URL) throws {
    for table in ["poll", "decision"] {
      try db.cachedStatement(sql: "DELETE FROM \(table) WHERE address = ?").execute(arguments: [address.absoluteString])
    }
  }

  func deletePolls() throws {
    try db.execute(sql: "DELETE FROM poll; DELETE FROM decision")
  }

  /// The value of the row with one key. What cannot be read is not known.
  private func health<Value: PollStored>(_: Value.Type, _ sql: String, of key: String) throws -> Value? {
    let row = RawStatement(try db.cachedStatement(sql: sql).sqliteStatement)
    defer { row.clear() }
    row.bind(key, at: 1)
    return try db.step(row, expecting: SQLITE_ROW) ? Value(stored: row.bytes(0)) : nil
  }
}

extension SQLiteFeedStore: PollStore {
  public func health(of addresses: [URL]) throws(FeedStoreError) -> [FeedHealth?] {
    try read { tables in try addresses.map { try tables.feedHealth(of: $0) } } ?? addresses.map { _ in nil }
  }

  public func health(ofHost name: String) throws(FeedStoreError) -> HostHealth? {
    try read { try $0.hostHealth(of: name) } ?? nil
  }

  public func claim(_ claim: PollClaim) throws(FeedStoreError) -> PollVerdict {
    guard case .verdict(let verdict) = try carryOut([.claim(claim)])[0].get() else { return .notDue(claim.feed) }
    return verdict
  }

  @discardableResult public func complete(_ completion: PollCompletion) throws(FeedStoreError) -> PollRecord? {
    guard case .completed(let record) = try carryOut([.completion(completion)])[0].get() else { return nil }
    return record
  }

  public func carryOut(_ works: [PollWork]) -> [Result<PollAnswer, FeedStoreError>] {
    // Only a new document changes more than the journal.
    let polling = !works.contains {
      if case .completion(let completion) = $0 { completion.isReplacement } else { false }
    }
    do throws(FeedStoreError) {
      return try write(.insertion, creating: true, polling: polling) { [policy] tables, step in
        try works.map { work -> Result<PollAnswer, FeedStoreError> in
          switch work {
          case .claim(let claim): .success(.verdict(try tables.verdict(on: claim)))
          case .completion(let completion):
            .success(.completed(try tables.complete(completion, keeping: policy, &step)))
          }
        }
      } ?? []
    } catch {
      return works.map { _ in .failure(error) }
    }
  }

  public func release(_ host: HostHealth) throws(FeedStoreError) {
    _ = try write(.insertion, creating: true, polling: true) { tables, _ in try tables.release(host) }
  }

  public func decisions(for address: URL) throws(FeedStoreError) -> [PollDecision] {
    try read { try $0.decisions(for: address) } ?? []
  }
}
