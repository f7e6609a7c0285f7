import Foundation
import GRDB

/// A kind of SQLite file: its program, its version and its tables.
///
/// A file's header identifies its program (`application_id`) and the version of its tables (`user_version`).
struct SQLiteKind: Sendable {
  /// The label of the file's connections in GRDB's diagnostics.
  let label: String
  let applicationID: Int
  let version: Int
  /// Creates the tables.
  let schema: String

  /// The settings of a connection.
  func configuration(busyTimeout: Duration) -> Configuration {
    var configuration = Configuration()
    configuration.busyMode = .timeout(busyTimeout / .seconds(1))
    configuration.foreignKeysEnabled = false
    configuration.label = label
    // Without this, GRDB traps when a transaction can't even be rolled back. Here, every error closes the
    // connection, and the transaction with it.
    configuration.allowsUnsafeTransactions = true
    return configuration
  }

  /// Checks which program wrote the file.
  ///
  /// - Returns: false when nothing was ever saved in it.
  /// - Throws: when the file belongs to another program or to a different version, or has this program's number but no
  ///   version.
  @discardableResult func check(_ db: Database) throws -> Bool {
    let application = try db.integer("PRAGMA application_id")
    let version = try db.integer("PRAGMA user_version")
    if application == applicationID {
      guard version > 0 else { throw FeedDatabaseFailure(.damaged("it has no schema version")) }
      guard version <= self.version else { throw FeedDatabaseFailure(.newerSchema(version)) }
      guard version == self.version else { throw FeedDatabaseFailure(.olderSchema(version)) }
      return true
    }
    let tables = try db.integer("SELECT count(*) FROM sqlite_master")
    guard application == 0, version == 0, tables == 0 else { throw FeedDatabaseFailure(.foreign) }
    return false
  }

  /// Creates the tables in an empty file. Call it in a write transaction.
  func prepare(_ db: Database) throws {
    guard try !check(db) else { return }
    try db.execute(sql: "\(schema) PRAGMA application_id = \(applicationID); PRAGMA user_version = \(version)")
  }
}
