import Foundation
import GRDB
import Synchronization

/// A SQLite file with tables of one kind, which several processes may share: opened when it is needed, opened anew when another
/// file has taken the path, and the place where damage is recovered from.
package final class TableFile: Sendable {
  /// What such a file has in it.
  package struct Kind: Sendable {
    /// What diagnostics of GRDB call its connections.
    let label: String
    /// Throws when the file is another program's or a newer release's.
    let check: @Sendable (Database) throws -> Void
    /// Creates the tables in an empty file.
    let prepare: @Sendable (Database) throws -> Void

    package init(
      _ label: String, check: @escaping @Sendable (Database) throws -> Void,
      prepare: @escaping @Sendable (Database) throws -> Void
    ) {
      self.label = label
      self.check = check
      self.prepare = prepare
    }
  }

  private struct Open {
    let connection: DatabaseConnection
    let identity: CacheFile.Identity
  }

  private let file: CacheFile
  private let kind: Kind
  private let busyTimeout: Duration
  private let onSetAside: @Sendable (String) -> Void
  private let open = Mutex<Open?>(nil)

  /// - Parameters:
  ///   - path: relative to the current directory at this moment, or absolute.
  ///   - busyTimeout: how long a call waits for other processes before it fails as busy.
  ///   - onSetAside: receives the new path of a damaged file.
  package init(
    path: String, _ kind: Kind, busyTimeout: Duration, onSetAside: @escaping @Sendable (String) -> Void
  ) {
    file = CacheFile(path: path)
    self.kind = kind
    self.busyTimeout = busyTimeout
    self.onSetAside = onSetAside
  }

  /// The absolute path of the file.
  package var path: String { file.path }

  /// Closes the file, which tidies up beside it; the next call opens it again.
  package func close() { open.withLock { $0 = nil } }

  /// Runs `body` in a transaction that no other process comes between; sets a damaged file aside, and tries again.
  ///
  /// - Returns: `nil` if there is no file and `creating` is false.
  package func use<R: Sendable>(
    creating: Bool, _ body: @Sendable (Database) throws -> R
  ) throws(FeedDatabaseFailure) -> R? {
    do {
      return try open.withLock { open in
        do {
          return try attempt(&open, creating, body)
        } catch {
          open = nil
          let failure = FeedDatabaseFailure(error)
          guard failure.isDamage || failure.hasMoved else { throw failure }
          // A connection that was open for long may be wrong about the file; a fresh one is not.
          do {
            return try attempt(&open, creating, body)
          } catch {
            open = nil
            let failure = FeedDatabaseFailure(error)
            guard failure.isDamage, let identity = file.identity else { throw failure }
            if let target = try file.setAside(identity, patience: busyTimeout) { onSetAside(target) }
            return try attempt(&open, creating, body)
          }
        }
      }
    } catch {
      throw FeedDatabaseFailure(error)
    }
  }

  private func attempt<R>(_ open: inout Open?, _ creating: Bool, _ body: (Database) throws -> R) throws -> R? {
    guard let open = try connect(&open, creating) else { return nil }
    return try open.connection.queue.inDatabase { db in
      var result: R?
      try db.inTransaction(.immediate) {
        try kind.prepare(db)
        result = try body(db)
        return .commit
      }
      return result
    }
  }

  private func connect(_ open: inout Open?, _ creating: Bool) throws -> Open? {
    let present = file.identity
    if let open, open.identity.isSameFile(as: present) { return open }
    open = nil
    if let present, !present.isRegular { throw FeedDatabaseFailure(.notAFile) }
    guard present != nil || creating else { return nil }
    if present == nil { try file.createFolder() }
    open = try file.withFolderLock(exclusively: true, patience: busyTimeout) {
      if file.identity == nil {
        file.removeStrayCompanions()
        try file.create()
      }
      guard let identity = file.identity else { return nil }
      return Open(connection: try connection(), identity: identity)
    }
    return open
  }

  private func connection() throws -> DatabaseConnection {
    var configuration = Configuration()
    configuration.busyMode = .timeout(busyTimeout / .seconds(1))
    configuration.foreignKeysEnabled = false
    configuration.label = kind.label
    // As for the feeds' file: an error closes the connection instead of ending the process.
    configuration.allowsUnsafeTransactions = true
    let connection = try DatabaseConnection(path: file.path, configuration)
    try connection.queue.inDatabase { db in
      // Another program's file is not even switched to a log.
      try kind.check(db)
      try db.execute(sql: "PRAGMA journal_size_limit = 4194304; PRAGMA secure_delete = OFF")
      _ = try String.fetchOne(db, sql: "PRAGMA journal_mode = WAL")
      // A crash of the machine may lose the latest transactions, never a part of one.
      try db.execute(sql: "PRAGMA synchronous = NORMAL")
    }
    return connection
  }
}
