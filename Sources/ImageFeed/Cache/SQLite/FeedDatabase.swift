import Foundation
import GRDB

/// An open connection to a cache file, which is checked when it is opened.
///
/// **Journal:** a write-ahead log, so that readers and a writer in different processes do not wait for each other and a
/// save needs no `fsync`. With `synchronous = NORMAL`, a crash of the process loses nothing. A crash of the machine may
/// lose the latest saves, but never part of one.
struct FeedDatabase: Sendable {
  private let connection: DatabaseConnection
  private let journal = NoteJournal()

  /// Connects to the file at the path. Call this while holding the folder lock, so that no other process renames the
  /// file.
  init(_ file: OpenFile, busyTimeout: Duration) throws {
    connection = try Self.explaining {
      try DatabaseConnection(file, Self.configuration(busyTimeout: busyTimeout))
    }
    // Without a log, which some file systems do not support, only `synchronous = FULL` survives a power cut.
    try perform { db in
      let isLogged = try String.fetchOne(db, sql: "PRAGMA journal_mode") == "wal"
      try db.execute(sql: "PRAGMA synchronous = \(isLogged ? "NORMAL" : "FULL")")
    }
  }

  /// Connects to a file that SQLite can't open normally because nothing can be written next to it: in a read-only
  /// folder, or on a full disk. This is correct only as long as no process writes to the file, so compare the file's
  /// identity before and after.
  init(frozen file: OpenFile) throws {
    var configuration = Self.configuration(busyTimeout: .zero)
    configuration.readonly = true
    let allowed = CharacterSet.urlPathAllowed.subtracting(CharacterSet(charactersIn: "?#%"))
    let path = file.path.addingPercentEncoding(withAllowedCharacters: allowed) ?? file.path
    connection = try Self.explaining {
      try DatabaseConnection(file, at: "file:\(path)?immutable=1", configuration)
    }
  }

  private static func configuration(busyTimeout: Duration) -> Configuration {
    var configuration = FeedSchema.kind.configuration(busyTimeout: busyTimeout)
    configuration.prepareDatabase { db in
      // Don't overwrite deleted rows with zeros (Debian's default): feeds are public, and zeroing doubles the writes.
      // The log is cut back to 8 MiB after a large save, and is copied to the file when it reaches that size. A page
      // that changes several times in between is copied only once. Folding the journal reads the whole table of notes,
      // and a cache of 8 MiB holds most of that table's pages.
      try db.execute(
        sql: """
          PRAGMA secure_delete = OFF; PRAGMA journal_size_limit = 8388608; PRAGMA wal_autocheckpoint = 2000;
          PRAGMA cache_size = -8192
          """)
    }
    return configuration
  }

  /// Runs `body` on one consistent state of the file; returns `nil` if nothing was ever saved there.
  func read<R>(_ body: (FeedTables) throws -> R) throws -> R? {
    try perform { db in try transaction("BEGIN DEFERRED", db, body) }
  }

  /// Runs `body` in a transaction that no other process can interrupt; returns `nil` if nothing was ever saved in the
  /// file.
  ///
  /// - Parameter noting: true if `body` makes only changes that the journal records.
  func write<R>(noting: Bool, _ body: (FeedTables) throws -> R) throws -> R? {
    try perform { db in
      try transaction("BEGIN IMMEDIATE", db) { tables in
        if !noting { try tables.foldJournal(forgetting: true) }
        let result = try body(tables)
        try tables.writeJournal()
        return result
      }
    }
  }

  /// Like GRDB's `inTransaction`, but with statements that are prepared once: preparing them takes a fifth of a small
  /// retrieval's time. `body` must rethrow the errors of statements that write, because SQLite may have rolled back
  /// after such an error.
  ///
  /// - Parameter body: not called if there are no tables.
  private func transaction<R>(_ begin: String, _ db: Database, _ body: (FeedTables) throws -> R) throws -> R? {
    try db.cachedStatement(sql: begin).execute()
    do {
      let result = try followOthers(db) ? try body(FeedTables(db: db, journal: journal)) : nil
      guard db.isInsideTransaction else {
        throw DatabaseError(resultCode: .SQLITE_ABORT, message: "Transaction was aborted")
      }
      try db.cachedStatement(sql: "COMMIT").execute()
      return result
    } catch {
      journal.forget()
      // SQLite may have rolled back already. An error in this rollback is ignored: the first error is the one to
      // report.
      if db.isInsideTransaction { try? db.rollback() }
      throw error
    }
  }

  /// Reads the changes that other connections have made since the last transaction.
  ///
  /// - Returns: false when nothing was ever saved in the file.
  private func followOthers(_ db: Database) throws -> Bool {
    let state = try db.integer("PRAGMA data_version")
    if state == journal.state { return true }
    journal.state = nil
    guard try FeedSchema.kind.check(db) else { return false }
    try FeedTables(db: db, journal: journal).readJournal()
    journal.state = state
    return true
  }

  /// Creates the schema in an empty file. Call this while holding the exclusive folder lock, so that no other process
  /// changes the journal.
  func initialize(patience: Duration) throws {
    try perform { db in
      // A power cut can't lose any data yet, and a file that it leaves empty is initialized again.
      try db.execute(sql: "PRAGMA synchronous = OFF")
      let mode = try Self.startLog(db, until: .now + patience)
      try db.execute(sql: "PRAGMA synchronous = \(mode == "wal" ? "NORMAL" : "FULL")")
      try db.inTransaction(.immediate) {
        try FeedSchema.kind.prepare(db)
        return .commit
      }
    }
  }

  /// - Returns: the file's new journal mode.
  private static func startLog(_ db: Database, until deadline: ContinuousClock.Instant) throws -> String? {
    while true {
      do {
        return try String.fetchOne(db, sql: "PRAGMA journal_mode = WAL")
      } catch let error as DatabaseError where error.resultCode == .SQLITE_BUSY && ContinuousClock.now < deadline {
        // SQLite's busy timeout doesn't apply to this statement, not even to wait for short transactions.
        usleep(2000)
      }
    }
  }

  private func perform<R>(_ body: (Database) throws -> R) throws -> R {
    try connection.queue.writeWithoutTransaction { db in
      try Self.explaining { try body(db) }
    }
  }

  /// Keeps the system's reason for a failure. SQLite forgets it when it fails to commit or to open the file. `errno`
  /// still has it, because everything in between runs on this thread, and successful calls don't change `errno`.
  private static func explaining<R>(_ body: () throws -> R) throws -> R {
    errno = 0
    do {
      return try body()
    } catch let error as DatabaseError {
      throw FeedDatabaseFailure(error, systemError: errno)
    }
  }
}
