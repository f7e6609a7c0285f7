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
    try write(.insertion, creating: true) { tables, _ in
      let (verdict, feed, host) = claim.decide(
        try tables.feedHealth(of: claim.feed.address), try tables.hostHealth(of: claim.host),
        try tables.feedRow(for: claim.feed.address)?.validators ?? FeedValidators())
      if case .granted = verdict { try tables.save(feed, host) }
      return verdict
    } ?? .granted(claim.feed, since: FeedValidators())
  }

  public func record(_ record: PollRecord) throws(FeedStoreError) {
    _ = try write(.insertion, creating: true) { tables, _ in
      let host = record.host.merged(into: try tables.hostHealth(of: record.host.name))
      try tables.save(record.feed, host)
      try tables.save(record.decision, record.feed)
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
