import Foundation
import ImageFeed
import Logging
import Synchronization

/// A store that remembers what the last load found in it, to explain why there is nothing to show.
///
/// The load itself tells only what may be shown; asking the store again afterwards would be too late, for what has expired
/// is deleted by then.
final class NotingStore: FeedStore {
  /// What a retrieval found, and what became of it.
  struct Note {
    var timestamp: Date?
    var isDeleted = false
  }

  private let store: SQLiteFeedStore
  private let log: Logger
  private let note = Mutex<Note?>(nil)

  init(_ store: SQLiteFeedStore, log: Logger) {
    self.store = store
    self.log = log
  }

  /// What the last retrieval found, once; `nil` when there was none since the last time.
  func takeNote() -> Note? {
    note.withLock { note in
      defer { note = nil }
      return note
    }
  }

  func close() { store.close() }

  func retrieve(for address: URL) throws(FeedStoreError) -> CachedFeed? {
    note.withLock { $0 = nil }
    let feed = try store.retrieve(for: address)
    note.withLock { $0 = Note(timestamp: feed?.timestamp) }
    log.debug("cache read", metadata: ["saved": "\(feed?.timestamp.stamp ?? "nothing")"])
    return feed
  }

  func replace(
    for address: URL, with feed: CachedFeed, now: Date
  ) throws(FeedStoreError) -> FeedReplacement {
    let result = try store.replace(for: address, with: feed, now: now)
    log.debug("cache saved", metadata: ["images": "\(feed.images.count)", "result": "\(result)"])
    return result
  }

  @discardableResult
  func delete(
    for address: URL, if condition: FeedDeletionCondition
  ) throws(FeedStoreError) -> Bool {
    let isDeleted = try store.delete(for: address, if: condition)
    note.withLock { $0?.isDeleted = isDeleted }
    log.debug("cache deletion", metadata: ["deleted": "\(isDeleted)"])
    return isDeleted
  }

  func summaries() throws(FeedStoreError) -> [CachedFeedSummary] { try store.summaries() }

  func deleteAll() throws(FeedStoreError) { try store.deleteAll() }
}
