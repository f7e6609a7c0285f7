import Foundation
import GRDB

/// The connection to a cache file that other processes share: it opens the file when needed, again when another file
/// has taken the path, and recovers from damage.
struct SharedDatabase: Sendable {
  private let file: CacheFile
  private let busyTimeout: Duration
  private var connection: FeedDatabase?

  init(file: CacheFile, busyTimeout: Duration) {
    self.file = file
    self.busyTimeout = busyTimeout
  }

  mutating func close() {
    connection = nil
  }

  /// Runs `body` on one consistent state of the file and changes nothing; `nil` if nothing was ever saved.
  mutating func read<R>(_ body: (FeedTables) throws -> R) throws(FeedDatabaseFailure) -> R? {
    try waitingForDescriptors { database throws(FeedDatabaseFailure) in
      do {
        return try database.connect(creating: false)?.read(body)
      } catch {
        database.connection = nil
        let failure = FeedDatabaseFailure(error)
        guard failure.mayBeReadFrozen else { throw failure }
        return try database.readFrozen(body, after: failure)
      }
    }
  }

  /// Runs `body` in a transaction that no other process can interrupt; sets a damaged file aside and tries again.
  ///
  /// - Parameters:
  ///   - creating: true to create a missing file or table.
  ///   - body: may run more than once; its earlier changes were rolled back.
  /// - Returns: `nil` if there is no file, or nothing was ever saved in it, and `creating` is false.
  mutating func write<R>(
    creating: Bool, onSetAside: (String) -> Void, _ body: (FeedTables) throws -> R
  ) throws(FeedDatabaseFailure) -> R? {
    try waitingForDescriptors { database throws(FeedDatabaseFailure) in
      try database.writeOnce(creating: creating, onSetAside: onSetAside, body)
    }
  }

  /// Repeats `body` while the process has no descriptor left for it, as long as it would wait for other processes.
  ///
  /// Mostly connections to servers use them, and those come and go.
  private mutating func waitingForDescriptors<R>(
    _ body: (inout SharedDatabase) throws(FeedDatabaseFailure) -> R
  ) throws(FeedDatabaseFailure) -> R {
    let deadline = ContinuousClock.now + busyTimeout
    var guesses = 3
    while true {
      do throws(FeedDatabaseFailure) {
        return try body(&self)
      } catch {
        if !error.isExhaustion, !Descriptors.areExhausted { guesses -= 1 }
        guard error.isExhaustion || error.mayBeExhaustion && guesses > 0, ContinuousClock.now < deadline else {
          throw error
        }
        usleep(5000)
      }
    }
  }

  private mutating func writeOnce<R>(
    creating: Bool, onSetAside: (String) -> Void, _ body: (FeedTables) throws -> R
  ) throws(FeedDatabaseFailure) -> R? {
    var mayReopen = true
    var triesToSetAside = 2
    while true {
      var opened: CacheFile.Identity?
      do {
        opened = connection?.identity ?? file.identity
        guard let connection = try connect(creating: creating) else { return nil }
        opened = connection.identity
        if let result = try connection.write(body) { return result }
        guard creating else { return nil }
        try file.withFolderLock(exclusively: true, patience: busyTimeout) {
          try connection.initialize(patience: busyTimeout)
        }
        return try connection.write(body)
      } catch {
        let failure = FeedDatabaseFailure(error)
        connection = nil
        // A connection that was open for long may have an outdated view of the file; a new one has not. Besides, SQLite
        // opens a file for reading only, without a report, when opening it for writing fails.
        if mayReopen, failure.isDamage || failure.hasMoved || failure.cause == .notPermitted {
          mayReopen = false
        } else if triesToSetAside > 0, failure.isDamage, let opened {
          triesToSetAside -= 1
          do throws(FeedDatabaseFailure) {
            try setAside(opened, onSetAside)
            triesToSetAside = 0
            // The next file is a different one.
            mayReopen = true
          } catch {
            // As with opening, one failure may be chance.
            guard triesToSetAside > 0, error.cause == .notPermitted else { throw error }
          }
        } else {
          throw failure
        }
      }
    }
  }

  private func setAside(_ identity: CacheFile.Identity, _ onSetAside: (String) -> Void) throws(FeedDatabaseFailure) {
    do {
      if let target = try file.setAside(identity, patience: busyTimeout) { onSetAside(target) }
    } catch {
      throw FeedDatabaseFailure(error)
    }
  }

  /// The connection to the file at the path now; `nil` if there is none and `creating` is false.
  private mutating func connect(creating: Bool) throws -> FeedDatabase? {
    let present = file.identity
    if let connection, connection.identity.isSameFile(as: present) { return connection }
    connection = nil
    if let present, !present.isRegular { throw FeedDatabaseFailure(.notAFile) }
    guard present != nil || creating else { return nil }
    if present == nil { try file.createFolder() }
    connection = try file.withFolderLock(exclusively: present == nil, patience: busyTimeout) {
      if creating, file.identity == nil {
        file.removeStrayCompanions()
        try file.create()
      }
      return try file.identity.map { try FeedDatabase(file, identity: $0, busyTimeout: busyTimeout) }
    }
    return connection
  }

  private func readFrozen<R>(
    _ body: (FeedTables) throws -> R, after failure: FeedDatabaseFailure
  ) throws(FeedDatabaseFailure) -> R? {
    // A log holds saves that the file does not have yet: without it the file may be old or incomplete.
    guard let identity = file.identity, !file.hasLog else { throw failure }
    let result: R?
    do {
      result = try FeedDatabase(frozen: file, identity: identity).read(body)
    } catch {
      throw FeedDatabaseFailure(error)
    }
    guard file.identity == identity, !file.hasLog else { throw FeedDatabaseFailure(.busy) }
    return result
  }
}
