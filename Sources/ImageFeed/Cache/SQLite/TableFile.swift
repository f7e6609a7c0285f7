import Foundation
import GRDB
import Synchronization

/// A SQLite file with tables of one kind, which several processes may share. A damaged file is renamed, and a new one
/// is created.
final class TableFile: Sendable {
  private let file: CacheFile
  private let kind: SQLiteKind
  private let onSetAside: @Sendable (String) -> Void
  private let shared: Mutex<SharedFile<DatabaseConnection>>

  /// - Parameters:
  ///   - path: absolute, or relative to the current directory at the time of this call.
  ///   - busyTimeout: the time that a call waits for other processes before it fails as busy.
  ///   - onSetAside: receives the new path of a damaged file.
  init(
    path: String, _ kind: SQLiteKind, busyTimeout: Duration, onSetAside: @escaping @Sendable (String) -> Void
  ) {
    file = CacheFile(path: path)
    self.kind = kind
    self.onSetAside = onSetAside
    shared = Mutex(
      SharedFile(file, applicationID: kind.applicationID, busyTimeout: busyTimeout, opensExclusively: true) {
        try Self.connection(to: $0, kind, busyTimeout)
      })
  }

  /// The absolute path of the file.
  var path: String { file.path }

  /// Closes the file, which removes the temporary files next to it; the next call opens it again.
  func close() { shared.withLock { $0.close() } }

  /// Runs `body` in a transaction that no other process can interrupt; renames a damaged file, and tries again.
  ///
  /// - Returns: `nil` if there is no file and `creating` is false.
  func use<R: Sendable>(
    creating: Bool, _ body: @Sendable (Database) throws -> R
  ) throws(FeedDatabaseFailure) -> R? {
    try shared.withLock { shared throws(FeedDatabaseFailure) in
      try shared.recovering(by: .settingAside(onSetAside)) {
        try shared.connect(creating: creating)?.queue.write { db in
          try kind.prepare(db)
          return try body(db)
        }
      }
    }
  }

  private static func connection(
    to file: OpenFile, _ kind: SQLiteKind, _ busyTimeout: Duration
  ) throws -> DatabaseConnection {
    let connection = try DatabaseConnection(file, kind.configuration(busyTimeout: busyTimeout))
    try connection.queue.inDatabase { db in
      // Check before any change: another program's file must not even be switched to write-ahead logging.
      try kind.check(db)
      try db.execute(sql: "PRAGMA journal_size_limit = 4194304; PRAGMA secure_delete = OFF")
      _ = try String.fetchOne(db, sql: "PRAGMA journal_mode = WAL")
      // A crash of the machine may lose the latest transactions, but never part of one.
      try db.execute(sql: "PRAGMA synchronous = NORMAL")
    }
    return connection
  }
}
