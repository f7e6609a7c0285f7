import Foundation
import GRDB

/// The feeds in a cache file that is shared with other processes.
struct SharedDatabase: Sendable {
  private let shared: SharedFile<FeedDatabase>

  init(file: CacheFile, busyTimeout: Duration) {
    shared = SharedFile(
      file, applicationID: FeedSchema.applicationID, busyTimeout: busyTimeout, opensExclusively: false
    ) {
      try FeedDatabase($0, busyTimeout: busyTimeout)
    }
  }

  func close() { shared.close() }

  /// Runs `body` on one consistent state of the file and changes nothing; returns `nil` if nothing was ever saved.
  func read<R>(_ body: (FeedTables) throws -> R) throws(FeedDatabaseFailure) -> R? {
    try shared.waitingForDescriptors { () throws(FeedDatabaseFailure) in
      do {
        return try shared.connect(creating: false)?.read(body)
      } catch {
        shared.close()
        let failure = FeedDatabaseFailure(error)
        guard failure.mayBeReadFrozen else { throw failure }
        return try readFrozen(body, after: failure)
      }
    }
  }

  /// Runs `body` in a transaction that no other process can interrupt. With `onSetAside`, renames a damaged file and
  /// tries again.
  ///
  /// - Parameters:
  ///   - creating: true to create a missing file or table.
  ///   - noting: true if `body` makes only changes that the journal records.
  ///   - body: may run more than once; its earlier changes were rolled back.
  /// - Returns: `nil` if there is no file, or nothing was ever saved in it, and `creating` is false.
  func write<R>(
    creating: Bool, noting: Bool, onSetAside: ((String) -> Void)?, _ body: (FeedTables) throws -> R
  ) throws(FeedDatabaseFailure) -> R? {
    try shared.recovering(by: onSetAside.map(SharedFile<FeedDatabase>.Remedy.settingAside) ?? .reporting) {
      guard let connection = try shared.connect(creating: creating) else { return nil }
      if let result = try connection.write(noting: noting, body) { return result }
      guard creating else { return nil }
      try shared.file.withFolderLock(exclusively: true, patience: shared.busyTimeout) {
        try connection.initialize(patience: shared.busyTimeout)
      }
      return try connection.write(noting: noting, body)
    }
  }

  private func readFrozen<R>(
    _ body: (FeedTables) throws -> R, after failure: FeedDatabaseFailure
  ) throws(FeedDatabaseFailure) -> R? {
    let file = shared.file
    // A log holds saves that the file does not contain yet: without the log, the file may be old or incomplete.
    guard let identity = file.identity, !file.hasLog else { throw failure }
    let result: R?
    do {
      let open = try OpenFile.opening(file, identity, applicationID: FeedSchema.applicationID)
      result = try FeedDatabase(frozen: open).read(body)
    } catch {
      throw FeedDatabaseFailure(error)
    }
    guard file.identity == identity, !file.hasLog else { throw FeedDatabaseFailure(.busy) }
    return result
  }
}
