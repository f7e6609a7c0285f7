public import Foundation
import GRDB
import Synchronization

/// Keeps feeds in one SQLite file, which several processes, and several stores of a process, may share.
///
/// Creating the store doesn't touch the file. The file is opened on first use; the first save creates it, with its
/// parent folders. A call waits up to `busyTimeout` for other processes.
///
/// **Damage.** ``retrieve(for:)`` reports a feed that it can't read, and changes nothing. The next save or deletion
/// renames a damaged file, or one that is not a database, to `<file>.corrupt-<time>` and starts a new one. A search
/// builds a damaged index again. An intact database of another program, or one that a newer version of this program
/// wrote, is refused and never changed.
///
/// **Locks.** Don't open the file in another way in a process that uses it, such as with `Data(contentsOf:)`: when a
/// process closes a file, the system releases its locks on the file, including SQLite's. Copy the file with
/// another process.
///
/// **Read-only.** A cache in a folder that cannot be written to, or on a full disk, can still be read.
public final class SQLiteFeedStore: FeedStore {
  /// The absolute path of the file.
  public let path: String
  /// The limits of the history.
  public let policy: HistoryPolicy
  private let onSetAside: @Sendable (String) -> Void
  private let database: Mutex<SharedDatabase>
  /// The file for which a new index didn't help, so that searches don't build one again and again.
  let damagedBeyondIndex = Mutex<CacheFile.Identity?>(nil)

  /// Creates a store for a file, which need not exist yet.
  ///
  /// - Parameters:
  ///   - path: absolute, or relative to the current directory at the time of this call.
  ///   - busyTimeout: the time that a call waits for other processes before it fails as busy.
  ///   - policy: the limits of the history; 1,000 items and 365 days per feed by default. A smaller
  ///     limit takes effect with the next change of a feed.
  ///   - onSetAside: receives the new path of a damaged file that was renamed, on the thread of the call that renamed
  ///     it.
  public init(
    path: String, busyTimeout: Duration = .seconds(10), keeping policy: HistoryPolicy = HistoryPolicy(),
    onSetAside: @escaping @Sendable (String) -> Void = { _ in }
  ) {
    let file = CacheFile(path: path)
    self.path = file.path
    self.policy = policy
    self.onSetAside = onSetAside
    database = Mutex(SharedDatabase(file: file, busyTimeout: busyTimeout))
  }

  /// Closes the file, which removes the files next to it; the next call opens it again.
  ///
  /// A program that is about to exit need not call this: no saved data is lost.
  public func close() {
    database.withLock { $0.close() }
  }

  public func retrieve(for address: URL) throws(FeedStoreError) -> CachedFeed? {
    try read { tables in
      guard let row = try tables.feedRow(for: address) else { return nil }
      return CachedFeed(images: try tables.images(of: row), timestamp: row.timestamp, validators: row.validators)
    } ?? nil
  }

  public func summaries() throws(FeedStoreError) -> [CachedFeedSummary] {
    try read { try $0.feedSummaries() } ?? []
  }

  public func summary(for address: URL) throws(FeedStoreError) -> CachedFeedSummary? {
    try read { tables in
      try tables.feedRow(for: address).map { row in
        CachedFeedSummary(
          address: address, timestamp: row.timestamp, imageCount: row.imageCount, validators: row.validators)
      }
    } ?? nil
  }

  public func renew(
    for address: URL, with renewal: FeedRenewal, now: Date
  ) throws(FeedStoreError) -> FeedReplacement? {
    try write(.insertion, creating: false) { tables, _ in try tables.renewed(address, with: renewal, now: now) } ?? nil
  }

  public func replace(
    for address: URL, with feed: CachedFeed, now: Date
  ) throws(FeedStoreError) -> FeedReplacement {
    try write(.insertion, creating: true) { [policy] tables, step in
      try tables.replace(address, with: feed, keeping: policy, now: now, &step)
    } ?? .replaced
  }

  @discardableResult public func delete(
    for address: URL, if condition: FeedDeletionCondition
  ) throws(FeedStoreError) -> Bool {
    try write(.deletion, creating: false) { [policy] tables, _ in
      guard let row = try tables.feedRow(for: address) else {
        // The row may exist but be unreadable. In that case, this call throws, and the damaged file is renamed.
        if condition == .unreadable { _ = try tables.feedSummaries() }
        return false
      }
      switch condition {
      case .always: break
      case .timestamp(let timestamp): guard row.timestamp == timestamp else { return false }
      case .unreadable: guard try !tables.canRead(row) else { return false }
      }
      try tables.keepAll(of: row, at: address, policy)
      try tables.deleteFeed(row)
      if condition == .always { try tables.deleteNotes(of: address) }
      return true
    } ?? false
  }

  public func deleteAll() throws(FeedStoreError) {
    _ = try write(.deletion, creating: false) { [policy] tables, _ in
      for summary in try tables.feedSummaries() {
        guard let row = try tables.feedRow(for: summary.address) else { continue }
        try tables.keepAll(of: row, at: summary.address, policy)
      }
      try tables.deleteAllFeeds()
    }
  }

  func read<R: Sendable>(_ body: (FeedTables) throws -> R) throws(FeedStoreError) -> R? {
    try database.withLock { database throws(FeedStoreError) -> R? in
      do throws(FeedDatabaseFailure) {
        return try database.read(body)
      } catch {
        throw .retrieval(error.cause, place: path)
      }
    }
  }

  /// - Parameters:
  ///   - first: the step to which failures are attributed until `body` changes it.
  ///   - noting: true if `body` only changes notes and renews feeds.
  ///   - settingAside: true to rename a damaged file.
  /// - Returns: `nil` if there is no file, or nothing was ever saved in it.
  func write<R: Sendable>(
    _ first: FeedStoreError.Step, creating: Bool, noting: Bool = false, settingAside: Bool = true,
    _ body: (FeedTables, inout FeedStoreError.Step) throws -> R
  ) throws(FeedStoreError) -> R? {
    try database.withLock { database throws(FeedStoreError) -> R? in
      var step = first
      do throws(FeedDatabaseFailure) {
        let report: ((String) -> Void)? = if settingAside { onSetAside } else { nil }
        return try database.write(creating: creating, noting: noting, onSetAside: report) { tables in
          step = first
          return try body(tables, &step)
        }
      } catch {
        throw FeedStoreError(step, error.cause, place: path)
      }
    }
  }
}
