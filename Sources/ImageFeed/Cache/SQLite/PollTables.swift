import Foundation
import GRDB

/// The statements about polling; they run inside a transaction, as those of ``FeedTables`` do.
///
/// Health is kept as JSON: it grows with every release, is read and written whole, and nothing looks for a part of it.
extension FeedTables {
  /// The version that has them.
  private var hasPolls: Bool { version >= FeedSchema.versionWithPolls }

  func feedHealth(of address: URL) throws -> FeedHealth? {
    try decoded("SELECT health FROM poll WHERE address = ?", [address.absoluteString])
  }

  func hostHealth(of name: String) throws -> HostHealth? {
    try decoded("SELECT health FROM host WHERE name = ?", [name])
  }

  func decisions(for address: URL) throws -> [PollDecision] {
    guard hasPolls else { return [] }
    let rows = try Data.fetchAll(
      db.cachedStatement(sql: "SELECT decision FROM decision WHERE address = ?"), arguments: [address.absoluteString])
    return rows.compactMap { try? JSONDecoder().decode(PollDecision.self, from: $0) }.sorted { $0.time < $1.time }
  }

  func save(_ feed: FeedHealth, _ host: HostHealth) throws {
    try db.cachedStatement(sql: "INSERT OR REPLACE INTO poll (address, health) VALUES (?, ?)")
      .execute(arguments: [feed.address.absoluteString, try JSONEncoder().encode(feed)])
    try save(host)
  }

  func save(_ host: HostHealth) throws {
    try db.cachedStatement(sql: "INSERT OR REPLACE INTO host (name, health) VALUES (?, ?)")
      .execute(arguments: [host.name, try JSONEncoder().encode(host)])
  }

  /// Takes the place of the oldest, when there are enough.
  func save(_ decision: PollDecision, _ feed: FeedHealth) throws {
    try db.cachedStatement(sql: "INSERT OR REPLACE INTO decision (address, place, decision) VALUES (?, ?, ?)")
      .execute(
        arguments: [
          feed.address.absoluteString, feed.polls % PollDecision.kept, try JSONEncoder().encode(decision),
        ])
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

  /// What cannot be read is not known.
  private func decoded<Value: Decodable>(_ sql: String, _ arguments: StatementArguments) throws -> Value? {
    guard hasPolls else { return nil }
    guard let data = try Data.fetchOne(db.cachedStatement(sql: sql), arguments: arguments) else { return nil }
    return try? JSONDecoder().decode(Value.self, from: data)
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
