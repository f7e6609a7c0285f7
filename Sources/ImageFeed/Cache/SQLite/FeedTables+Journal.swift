import GRDB
import GRDBSQLite

/// The journal of polls in its file: see ``PollJournal``.
extension FeedTables {
  /// Reads the journal of a file that others have changed: what was added, or all of it when the tables may have changed.
  func readJournal() throws {
    let first = RawStatement(
      try db.cachedStatement(sql: "SELECT id FROM journal ORDER BY id LIMIT 1").sqliteStatement)
    defer { first.clear() }
    let isSame = try db.step(first, expecting: SQLITE_ROW) && first.integer(0).map(Int64.init) == journal.rows?.first
    if !isSame { journal.clear() }
    let sql = "SELECT id, entries FROM journal WHERE id > ? ORDER BY id"
    let row = RawStatement(try db.cachedStatement(sql: sql).sqliteStatement)
    defer { row.clear() }
    row.bind(journal.rows?.last ?? -1, at: 1)
    while try db.step(row, expecting: SQLITE_ROW) { journal.read(row.bytes(1), Int64(row.integer(0) ?? 0)) }
  }

  /// Writes the entries of this transaction, or, when there are many, all of them into the tables.
  func writeJournal() throws {
    journal.trim()
    guard !journal.entries.isEmpty else { return }
    guard !journal.isFull else { return try foldJournal(forgetting: false) }
    let sql = "INSERT INTO journal (id, entries) VALUES (?, ?)"
    let row = RawStatement(try db.cachedStatement(sql: sql).sqliteStatement)
    defer { row.clear() }
    let number = journal.nextRow
    row.bind(number, at: 1)
    try journal.entries.withUnsafeBytes { entries in
      row.bind(entries, at: 2)
      try db.step(row, expecting: SQLITE_DONE)
    }
    journal.areWritten(as: number)
  }

  /// Writes what is noted into the tables and empties the journal.
  ///
  /// - Parameter forgetting: true when the tables are about to change.
  func foldJournal(forgetting: Bool) throws {
    if journal.rows != nil || !journal.entries.isEmpty {
      try write("INSERT OR REPLACE INTO poll (address, health) VALUES (?, ?)", of: journal.feeds) { row, feed in
        guard let stored = feed.stored else { return false }
        row.bind(stored, at: 2)
        return true
      }
      try write("INSERT OR REPLACE INTO host (name, health) VALUES (?, ?)", of: journal.hosts) { row, host in
        guard let stored = host.stored else { return false }
        row.bind(stored, at: 2)
        return true
      }
      try writeDecisions()
      for (address, feed) in journal.feeds {
        if let renewal = feed.renewal { try renew(renewal, where: "address") { $0.bind(address, at: 7) } }
      }
      try db.cachedStatement(sql: "DELETE FROM journal").execute()
    }
    if forgetting { journal.clear() } else { journal.isFolded() }
  }

  private func writeDecisions() throws {
    let sql = "INSERT OR REPLACE INTO decision (address, place, decision) VALUES (?, ?, ?)"
    let row = RawStatement(try db.cachedStatement(sql: sql).sqliteStatement)
    defer { row.clear() }
    for (address, feed) in journal.feeds where !feed.decisions.isEmpty {
      row.bind(address, at: 1)
      for (place, stored) in feed.decisions {
        row.bind(Int64(place), at: 2)
        row.bind(stored, at: 3)
        try db.step(row, expecting: SQLITE_DONE)
        row.reset()
      }
    }
  }

  /// Runs one statement for each of `values`, whose key is the first parameter.
  ///
  /// - Parameter bind: binds the others; returns false to leave this one out.
  private func write<Value>(
    _ sql: String, of values: [String: Value], _ bind: (RawStatement, Value) -> Bool
  ) throws {
    let row = RawStatement(try db.cachedStatement(sql: sql).sqliteStatement)
    defer { row.clear() }
    for (key, value) in values where bind(row, value) {
      row.bind(key, at: 1)
      try db.step(row, expecting: SQLITE_DONE)
      row.reset()
    }
  }
}
