import Foundation
import GRDB
import GRDBSQLite

/// The statements about polling; they run inside a transaction, as those of ``FeedTables`` do.
///
/// Health is kept as bytes (``PollFields``): it grows with every release, is read and written whole, and nothing looks for a
/// part of it.
extension FeedTables {
  /// The version that has them.
  private var hasPolls: Bool { version >= FeedSchema.versionWithPolls }

  func feedHealth(of address: URL) throws -> FeedHealth? {
    try values(FeedHealth.self, "SELECT health FROM poll WHERE address = ?", of: address.absoluteString).first
  }

  func hostHealth(of name: String) throws -> HostHealth? {
    try values(HostHealth.self, "SELECT health FROM host WHERE name = ?", of: name).first
  }

  func decisions(for address: URL) throws -> [PollDecision] {
    let sql = "SELECT decision FROM decision WHERE address = ?"
    return try values(PollDecision.self, sql, of: address.absoluteString).sorted { $0.time < $1.time }
  }

  func save(_ feed: FeedHealth, _ host: HostHealth) throws {
    try write("INSERT OR REPLACE INTO poll (address, health) VALUES (?, ?)") { row in
      row.bind(feed.address.absoluteString, at: 1)
      row.bind(feed.stored, at: 2)
    }
    try save(host)
  }

  func save(_ host: HostHealth) throws {
    try write("INSERT OR REPLACE INTO host (name, health) VALUES (?, ?)") { row in
      row.bind(host.name, at: 1)
      row.bind(host.stored, at: 2)
    }
  }

  /// Takes the place of the oldest, when there are enough.
  func save(_ decision: PollDecision, _ feed: FeedHealth) throws {
    try write("INSERT OR REPLACE INTO decision (address, place, decision) VALUES (?, ?, ?)") { row in
      row.bind(feed.address.absoluteString, at: 1)
      row.bind(Int64(feed.polls % PollDecision.kept), at: 2)
      row.bind(decision.stored, at: 3)
    }
  }

  func verdict(on claim: PollClaim) throws -> PollVerdict {
    let (verdict, feed, host) = claim.decide(
      try feedHealth(of: claim.feed.address), try hostHealth(of: claim.host),
      try feedRow(for: claim.feed.address)?.validators ?? FeedValidators())
    if case .granted = verdict { try save(feed, host) }
    return verdict
  }

  /// - Returns: false when what is to be renewed is not what is saved: then nothing is noted.
  func note(_ record: PollRecord, now: Date) throws -> Bool {
    if let renewal = record.renewal {
      guard try renewed(record.feed.address, with: renewal, now: now) != nil else { return false }
    }
    try save(record.feed, record.host.merged(into: try hostHealth(of: record.host.name)))
    try save(record.decision, record.feed)
    return true
  }

  /// Forgets how polling one feed went, not the pause of its host.
  func deletePoll(of address: URL) throws {
    guard hasPolls else { return }
    for table in ["poll", "decision"] {
      try db.cachedStatement(sql: "DELETE FROM \(table) WHERE address = ?").execute(arguments: [address.absoluteString])
    }
  }

  func deletePolls() throws {
    guard hasPolls else { return }
    try db.execute(sql: "DELETE FROM poll; DELETE FROM decision")
  }

  /// The values of the rows with one key. What cannot be read is not known.
  private func values<Value: PollStored>(_: Value.Type, _ sql: String, of key: String) throws -> [Value] {
    guard hasPolls else { return [] }
    let row = RawStatement(try db.cachedStatement(sql: sql).sqliteStatement)
    defer { row.clear() }
    row.bind(key, at: 1)
    var values: [Value] = []
    while try db.step(row, expecting: SQLITE_ROW) {
      if let value = Value(stored: row.bytes(0)) { values.append(value) }
    }
    return values
  }

  private func write(_ sql: String, _ bind: (RawStatement) -> Void) throws {
    let row = RawStatement(try db.cachedStatement(sql: sql).sqliteStatement)
    defer { row.clear() }
    bind(row)
    try db.step(row, expecting: SQLITE_DONE)
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
    try write(.insertion, creating: true) { tables, _ in try tables.verdict(on: claim) }
      ?? .granted(claim.feed, since: FeedValidators())
  }

  @discardableResult public func record(_ record: PollRecord, now: Date) throws(FeedStoreError) -> Bool {
    try write(.insertion, creating: true) { tables, _ in try tables.note(record, now: now) } ?? true
  }

  public func carryOut(_ works: [PollWork]) -> [Result<PollAnswer, FeedStoreError>] {
    do throws(FeedStoreError) {
      return try write(.insertion, creating: true) { tables, _ in
        try works.map { work -> Result<PollAnswer, FeedStoreError> in
          switch work {
          case .claim(let claim): .success(.verdict(try tables.verdict(on: claim)))
          case .record(let record, let now): .success(.recorded(try tables.note(record, now: now)))
          }
        }
      } ?? []
    } catch {
      return works.map { _ in .failure(error) }
    }
  }

  public func release(_ host: HostHealth) throws(FeedStoreError) {
    _ = try write(.insertion, creating: true) { tables, _ in
      try tables.save(host.merged(into: try tables.hostHealth(of: host.name)))
    }
  }

  public func decisions(for address: URL) throws(FeedStoreError) -> [PollDecision] {
    try read { try $0.decisions(for: address) } ?? []
  }
}
