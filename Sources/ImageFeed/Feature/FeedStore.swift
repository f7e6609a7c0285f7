public import Foundation

/// Keeps the last feed of each address: the port between the feed and a database.
///
/// Every call **blocks** until it is done: make it on a thread pool, never on an event loop. A store may be called from
/// any thread; calls on one store run one after another, and each is atomic for every process that shares the store: it
/// happens whole or not at all, and a call that throws has changed nothing.
public protocol FeedStore: Sendable {
  /// The feed saved for `address`, however old, or `nil` if there is none. Changes nothing.
  func retrieve(for address: URL) throws(FeedStoreError) -> CachedFeed?

  /// Replaces the feed of `address` by `feed` (replaced, not merged), unless a newer one is there.
  ///
  /// Deleting the old feed and inserting the new one are one transaction: after a deletion error or an insertion error
  /// the old feed is intact.
  ///
  /// - Parameter now: the present moment; a saved timestamp that lies in its future cannot be trusted, and such a feed
  ///   is replaced whatever its timestamp says (see ``FeedCachePolicy/isSuperseded(_:by:now:)``).
  func replace(for address: URL, with feed: CachedFeed, now: Date) throws(FeedStoreError) -> FeedReplacement

  /// Deletes the feed of `address` if `condition` holds at that moment; does nothing if there is none.
  ///
  /// - Returns: whether a feed was deleted.
  @discardableResult func delete(for address: URL, if condition: FeedDeletionCondition) throws(FeedStoreError) -> Bool

  /// What is saved, ordered by address, without the images themselves. Changes nothing.
  func summaries() throws(FeedStoreError) -> [CachedFeedSummary]

  /// Deletes every feed.
  func deleteAll() throws(FeedStoreError)
}

extension FeedStore {
  /// Deletes the feed of `address`, whatever its state; does nothing if there is none.
  @discardableResult public func delete(for address: URL) throws(FeedStoreError) -> Bool {
    try delete(for: address, if: .always)
  }
}

/// How ``FeedStore/replace(for:with:now:)`` ended.
public enum FeedReplacement: Hashable, Sendable {
  /// The new images are saved.
  case replaced
  /// The same images were saved already: only their timestamp was renewed.
  case renewed
  /// A newer feed was there, from a later request, and stays: nothing was written.
  case superseded(by: Date)
}

/// When a deletion is still wanted, decided inside its transaction, so that a feed which somebody else saved since the
/// caller looked is not deleted in place of the one the caller saw.
public enum FeedDeletionCondition: Hashable, Sendable {
  /// In any case.
  case always
  /// The saved feed still is the one with this timestamp.
  case timestamp(Date)
  /// The saved feed still cannot be retrieved.
  case unreadable
}

/// One line of a store's table of contents.
public struct CachedFeedSummary: Hashable, Sendable {
  /// The address the feed came from.
  public let address: URL
  /// When it was asked for.
  public let timestamp: Date
  /// How many images it has.
  public let imageCount: Int

  /// Describes a saved feed.
  public init(address: URL, timestamp: Date, imageCount: Int) {
    self.address = address
    self.timestamp = timestamp
    self.imageCount = imageCount
  }
}
