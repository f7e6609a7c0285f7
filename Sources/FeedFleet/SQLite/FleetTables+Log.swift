import FeedStream
import Foundation
import GRDB
import ImageFeed

extension FleetTables {
  /// Numbers are microseconds, so that a file that was put back to an older state does not use one again for something else.
  func append(_ update: FeedUpdate) throws -> Int64 {
    let id = max(now * 1000, try last() + 1)
    try run(
      "INSERT INTO entry (id, address, version) VALUES (?, ?, ?)",
      [id, update.address.absoluteString, update.version.microseconds])
    try run("UPDATE last SET entry = ?", [id])
    try run("DELETE FROM entry WHERE id < ?", [(now - logDuration.milliseconds) * 1000])
    return id
  }

  func last() throws -> Int64 { try one(Int64.self, "SELECT entry FROM last") ?? 0 }

  func latest(_ count: Int) throws -> [LoggedUpdate] {
    try rows("SELECT id, address, version FROM entry ORDER BY id DESC LIMIT ?", [count]).reversed().compactMap(logged)
  }

  func holds(_ cursor: UpdateCursor) throws -> Bool {
    guard let number = Int64(cursor.description) else { return false }
    if try last() == number { return true }
    return try one(Int.self, "SELECT 1 FROM entry WHERE id = ?", [number]) != nil
  }

  func updates(after cursor: UpdateCursor, _ count: Int) throws -> [LoggedUpdate] {
    try rows(
      "SELECT id, address, version FROM entry WHERE id > ? ORDER BY id LIMIT ?",
      [Int64(cursor.description) ?? 0, count]
    )
    .compactMap(logged)
  }

  func trim(to count: Int) throws {
    try run("DELETE FROM entry WHERE id NOT IN (SELECT id FROM entry ORDER BY id DESC LIMIT ?)", [count])
  }

  private func logged(_ row: Row) -> LoggedUpdate? {
    guard let address = URL(string: row["address"]) else { return nil }
    return LoggedUpdate(
      cursor: UpdateCursor("\(row["id"] as Int64)"),
      update: FeedUpdate(address: address, version: FeedVersion(microseconds: row["version"])))
  }

  // MARK: Feeds

  func feed(_ address: URL, withImages: Bool) throws -> FleetFeed? {
    let columns = withImages ? "version, record, document" : "version, record"
    guard
      let row = try row("SELECT \(columns) FROM feed WHERE address = ?", [address.absoluteString]),
      let text = row["record"] as String?
    else { return nil }
    let record = FeedRecord(text, of: address) ?? FeedRecord(health: FeedHealth(address: address))
    let document = withImages ? row["document"] as Data? : nil
    return FleetFeed(
      address: address, record: record,
      version: (row["version"] as Int64?).map { FeedVersion(microseconds: $0) },
      document: document.map { Chunk(Array($0)) })
  }

  /// The addresses after one, in their order.
  func addresses(after last: String, _ count: Int) throws -> [String] {
    try rows(
      "SELECT address FROM feed WHERE address > ? AND host IS NOT NULL ORDER BY address LIMIT ?", [last, count]
    )
    .map { $0["address"] }
  }
}
