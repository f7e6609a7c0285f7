import GRDB
import GRDBSQLite

/// The note journal in the file: see ``NoteJournal``.
extension FeedTables {
  /// Reads the journal of a file that other processes have changed: the added entries, or all entries if the tables may
  /// have changed.
  func readJournal() throws {
    let first = try statement("SELECT id FROM journal ORDER BY id LIMIT 1")
    defer { first.clear() }
    let isSame = try db.step(first, expecting: SQLITE_ROW) && first.integer(0).map(Int64.init) == journal.rows?.first
    if !isSame { journal.clear() }
    let row = try statement("SELECT id, entries FROM journal WHERE id > ? ORDER BY id")
    defer { row.clear() }
    row.bind(journal.rows?.last ?? -1, at: 1)
    while try db.step(row, expecting: SQLITE_ROW) { journal.read(row.blob(1), Int64(row.integer(0) ?? 0)) }
  }

  /// Writes the entries of this transaction to the journal, or, if there are many, all entries to the tables.
  func writeJournal() throws {
    journal.trim()
    guard !journal.entries.isEmpty else { return }
    guard !journal.isFull else { return try foldJournal(forgetting: false) }
    let row = try statement("INSERT INTO journal (id, entries) VALUES (?, ?)")
    defer { row.clear() }
    let number = journal.nextRow
    row.bind(number, at: 1)
    try journal.entries.withUnsafeBytes { entries in
      row.bind(entries, at: 2)
      try db.step(row, expecting: SQLITE_DONE)
    }
    journal.areWritten(as: number)
  }

  /// Writes the journal's entries to the tables, and empties the journal.
  ///
  /// - Parameter forgetting: true if the tables are about to change.
  func foldJournal(forgetting: Bool) throws {
    if journal.rows != nil || !journal.entries.isEmpty {
      try writeNotes()
      for (address, renewal) in journal.renewals { try renew(renewal, where: "address") { $0.bind(address, at: 7) } }
      try db.cachedStatement(sql: "DELETE FROM journal").execute()
    }
    if forgetting { journal.clear() } else { journal.isFolded() }
  }

  private func writeNotes() throws {
    let row = try statement("INSERT OR REPLACE INTO note (name, kind, place, content) VALUES (?, ?, ?, ?)")
    defer { row.clear() }
    for (key, stored) in journal.written {
      row.bind(key, from: 1)
      row.bind(stored, at: 4)
      try db.step(row, expecting: SQLITE_DONE)
      row.reset()
    }
  }
}
