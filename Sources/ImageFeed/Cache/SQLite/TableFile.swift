import Foundation
import GRDB
import Synchronization

/// A SQLite file with tables of one kind, which several processes may share. A damaged file is renamed, and a new one
/// is created.
package final class TableFile: Sendable {
  /// A kind of table file: its name, its schema and its tables.
  package struct Kind: Sendable {
    /// The label of the file's connections in GRDB's diagnostics.
    let label: String
    /// Identifies the program in the file's header.
    let applicationID: Int
    /// The version of the tables.
    let version: Int
    /// Creates the tables.
    let schema: String

    package init(_ label: String, applicationID: Int, version: Int, schema: String) {
      self.label = label
      self.applicationID = applicationID
      self.version = version
      self.schema = schema
    }

    /// Checks which program wrote the file.
    ///
    /// - Returns: true if the file has the tables.
    /// - Throws: if the file belongs to another program or a newer release.
    @discardableResult fileprivate func check(_ db: Database) throws -> Bool {
      let application = try Int.fetchOne(db, sql: "PRAGMA application_id") ?? 0
      let version = try Int.fetchOne(db, sql: "PRAGMA user_version") ?? 0
      if application == applicationID {
        guard version <= self.version else { throw FeedDatabaseFailure(.newerSchema(version)) }
        return version > 0
      }
      let tables = try Int.fetchOne(db, sql: "SELECT count(*) FROM sqlite_master") ?? 0
      guard application == 0, version == 0, tables == 0 else { throw FeedDatabaseFailure(.foreign) }
      return false
    }

    /// Creates the tables in an empty file.
    fileprivate func prepare(_ db: Database) throws {
      guard try !check(db) else { return }
      try db.execute(sql: "\(schema) PRAGMA application_id = \(applicationID); PRAGMA user_version = \(version)")
    }
  }

  private let file: CacheFile
  private let kind: Kind
  private let onSetAside: @Sendable (String) -> Void
  private let shared: Mutex<SharedFile<DatabaseConnection>>

  /// - Parameters:
  ///   - path: absolute, or relative to the current directory at the time of this call.
  ///   - busyTimeout: the time that a call waits for other processes before it fails as busy.
  ///   - onSetAside: receives the new path of a damaged file.
  package init(
    path: String, _ kind: Kind, busyTimeout: Duration, onSetAside: @escaping @Sendable (String) -> Void
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
  package var path: String { file.path }

  /// Closes the file, which removes the temporary files next to it; the next call opens it again.
  package func close() { shared.withLock { $0.close() } }

  /// Runs `body` in a transaction that no other process can interrupt; renames a damaged file, and tries again.
  ///
  /// - Returns: `nil` if there is no file and `creating` is false.
  package func use<R: Sendable>(
    creating: Bool, _ body: @Sendable (Database) throws -> R
  ) throws(FeedDatabaseFailure) -> R? {
    try shared.withLock { shared throws(FeedDatabaseFailure) in
      try shared.recovering(by: .settingAside(onSetAside)) {
        try shared.connect(creating: creating)?.queue.inDatabase { db in
          var result: R?
          try db.inTransaction(.immediate) {
            try kind.prepare(db)
            result = try body(db)
            return .commit
          }
          return result
        }
      }
    }
  }

  private static func connection(
    to file: CacheFile, _ kind: Kind, _ busyTimeout: Duration
  ) throws -> DatabaseConnection {
    var configuration = Configuration()
    configuration.busyMode = .timeout(busyTimeout / .seconds(1))
    configuration.foreignKeysEnabled = false
    configuration.label = kind.label
    // As in `FeedDatabase`: an error closes the connection instead of trapping.
    configuration.allowsUnsafeTransactions = true
    let connection = try DatabaseConnection(path: file.path, configuration)
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
