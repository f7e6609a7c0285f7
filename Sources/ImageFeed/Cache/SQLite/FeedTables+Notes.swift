import Foundation
import GRDB
import GRDBSQLite

/// The SQL statements for notes. They run inside a transaction, like those of ``FeedTables``.
///
/// Notes are kept as bytes (``NoteFields``), because releases add fields to them, and because they are read and written
/// as a whole and are never searched.
extension FeedTables {
  /// - Parameter remembers: true to cache the note for later reads, as writing transactions do.
  func note<Note: StoredNote>(_ key: NoteKey, as type: Note.Type, remembers: Bool) throws -> Note? {
    let known = remembers ? journal.note(key) : journal.notes[key]
    if let known, known.isRead { return known.value as? Note }
    let note =
      if let stored = known?.stored {
        stored.withUnsafeBytes { Note(stored: $0) }
      } else {
        try written(key, as: type)
      }
    if remembers, let known { (known.isRead, known.value) = (true, note) }
    return note
  }

  /// The note in the table; `nil` if there is none or if it can't be read.
  private func written<Note: StoredNote>(_ key: NoteKey, as type: Note.Type) throws -> Note? {
    let row = try statement("SELECT content FROM note WHERE name = ? AND kind = ? AND place = ?")
    defer { row.clear() }
    row.bind(key, from: 1)
    return try db.step(row, expecting: SQLITE_ROW) ? Note(stored: row.blob(0)) : nil
  }

  func set<Note: StoredNote>(_ note: Note, at key: NoteKey, isKept: Bool) {
    let known = journal.note(key)
    let stored = note.stored
    (known.isRead, known.value, known.stored) = (isKept, isKept ? note : nil, stored)
    journal.append(stored, at: key)
  }

  /// The row of a feed, from the table if it isn't cached.
  private func known(_ address: URL) throws -> NoteJournal.Row {
    let name = address.absoluteString
    let feed = journal.feed(name)
    if !feed.isRead { (feed.row, feed.isRead) = (try feedRow(for: address), true) }
    return feed
  }

  func validators(of address: URL) throws -> FeedValidators {
    try known(address).row?.validators ?? FeedValidators()
  }

  func imageCount(of address: URL) throws -> Int { try known(address).row?.imageCount ?? 0 }

  /// Records the renewal of a feed, unless its validators have changed in the meantime or the feed doesn't exist.
  func noteRenewal(_ address: URL, with renewal: FeedRenewal, now: Date) throws -> FeedReplacement? {
    let feed = try known(address)
    guard let row = feed.row, row.validators == renewal.since else { return nil }
    if FeedCachePolicy.isSuperseded(renewal.timestamp, by: row.timestamp, now: now) {
      return .superseded(by: row.timestamp)
    }
    let new = Renewal(timestamp: renewal.timestamp, validators: renewal.validators)
    feed.row?.renew(new)
    feed.renewal = new
    journal.append(new, of: address.absoluteString)
    return .renewed
  }

  func deleteNotes(of address: URL) throws {
    try db.cachedStatement(sql: "DELETE FROM note WHERE name = ? AND kind < 128")
      .execute(arguments: [address.absoluteString])
  }

  func deleteNotesOfFeeds() throws { try db.execute(sql: "DELETE FROM note WHERE kind < 128") }
}

extension RawStatement {
  /// Binds the parts of a key to three parameters.
  func bind(_ key: NoteKey, from index: Int32) {
    bind(key.name, at: index)
    bind(Int64(key.kind.number), at: index + 1)
    bind(Int64(key.place), at: index + 2)
  }
}

/// The notes of a file within one transaction.
private final class NotesInFile: FeedNotes {
  private let tables: FeedTables
  private let policy: HistoryPolicy
  private let isWriting: Bool
  /// The step to which failures are attributed.
  var step = FeedStoreError.Step.insertion

  init(_ tables: FeedTables, _ policy: HistoryPolicy, isWriting: Bool) {
    (self.tables, self.policy, self.isWriting) = (tables, policy, isWriting)
  }

  func note<Note: StoredNote>(_ key: NoteKey, as type: Note.Type) throws -> Note? {
    try tables.note(key, as: type, remembers: isWriting)
  }

  func set<Note: StoredNote>(_ note: Note, at key: NoteKey, isKept: Bool) { tables.set(note, at: key, isKept: isKept) }

  func validators(of address: URL) throws -> FeedValidators { try tables.validators(of: address) }

  func imageCount(of address: URL) throws -> Int { try tables.imageCount(of: address) }

  func replace(_ address: URL, with feed: CachedFeed, now: Date) throws -> FeedReplacement {
    defer { tables.journal.forgetRow(of: address.absoluteString) }
    return try tables.replace(address, with: feed, keeping: policy, now: now, &step)
  }

  func renew(_ address: URL, with renewal: FeedRenewal, now: Date) throws -> FeedReplacement? {
    try tables.noteRenewal(address, with: renewal, now: now)
  }
}

extension SQLiteFeedStore: NoteStore {
  package func readNotes<R: Sendable>(_ body: (any FeedNotes) throws -> R) throws(FeedStoreError) -> R? {
    try read { [policy] tables in try body(NotesInFile(tables, policy, isWriting: false)) }
  }

  package func changeNotes<R: Sendable>(
    replacing: Bool, _ body: (any FeedNotes) throws -> R
  ) throws(FeedStoreError) -> R {
    let result = try write(.insertion, creating: true, noting: !replacing) { [policy] tables, step in
      let notes = NotesInFile(tables, policy, isWriting: true)
      defer { step = notes.step }
      return try body(notes)
    }
    // Because `creating` is true, there is a result unless the file could not be created.
    guard let result else { throw .insertion(.other("it was not created"), place: path) }
    return result
  }
}
