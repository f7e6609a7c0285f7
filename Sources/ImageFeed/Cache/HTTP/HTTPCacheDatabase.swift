import FeedHTTP
import Foundation
import GRDB
import Synchronization

/// The connection to the file of an HTTP cache: opened when it is needed, opened anew when another file has taken the path,
/// and the place where damage is recovered from.
final class HTTPCacheDatabase: Sendable {
  private struct Open {
    let connection: DatabaseConnection
    let identity: CacheFile.Identity
  }

  private let file: CacheFile
  private let capacity: Int
  private let busyTimeout: Duration
  private let onSetAside: @Sendable (String) -> Void
  private let open = Mutex<Open?>(nil)

  init(
    _ file: CacheFile, capacity: Int, busyTimeout: Duration, onSetAside: @escaping @Sendable (String) -> Void
  ) {
    self.file = file
    self.capacity = capacity
    self.busyTimeout = busyTimeout
    self.onSetAside = onSetAside
  }

  func close() { open.withLock { $0 = nil } }

  /// Runs `body` in a transaction that no other process comes between; sets a damaged file aside, and tries again.
  ///
  /// - Returns: `nil` if there is no file and `creating` is false.
  func use<R: Sendable>(
    creating: Bool, _ body: @Sendable (HTTPCacheTables) throws -> R
  ) throws(HTTPCacheError) -> R? {
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
      throw HTTPCacheError("\(file.path): \(FeedDatabaseFailure(error).cause)")
    }
  }

  private func attempt<R>(_ open: inout Open?, _ creating: Bool, _ body: (HTTPCacheTables) throws -> R) throws -> R? {
    guard let open = try connect(&open, creating) else { return nil }
    return try open.connection.queue.inDatabase { db in
      var result: R?
      try db.inTransaction(.immediate) {
        try HTTPCacheTables.prepare(db)
        result = try body(HTTPCacheTables(db: db, capacity: capacity))
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
    configuration.label = "HTTPCache"
    // As for the feeds' file: an error closes the connection instead of ending the process.
    configuration.allowsUnsafeTransactions = true
    let connection = try DatabaseConnection(path: file.path, configuration)
    try connection.queue.inDatabase { db in
      // Another program's file is not even switched to a log.
      try HTTPCacheTables.check(db)
      try db.execute(sql: "PRAGMA journal_size_limit = 4194304; PRAGMA secure_delete = OFF")
      _ = try String.fetchOne(db, sql: "PRAGMA journal_mode = WAL")
      // A crash of the machine may lose the latest responses, which are only copies.
      try db.execute(sql: "PRAGMA synchronous = NORMAL")
    }
    return connection
  }
}
