public import Foundation

/// Stores the latest feed of each URL: the port between feeds and a database.
///
/// Every call **blocks** until it is done: make it on a thread pool, never on an event loop. A store may be called from
/// any thread; calls on one store run one after another. Each call is atomic for every process that shares the store: it
/// happens completely or not at all. A call that throws has changed nothing.
public protocol FeedStore: Sendable {
  /// The feed saved for `address`, whatever its age, or `nil` if there is none. Changes nothing.
  func retrieve(for address: URL) throws(FeedStoreError) -> CachedFeed?

  /// Replaces the feed of `address` with `feed`, without merging them, unless a newer one is saved.
  ///
  /// Deleting the old feed and inserting the new one are one transaction: after a deletion error or an insertion error,
  /// the old feed is intact.
  ///
  /// - Parameter now: the current time. A saved timestamp that is later by more than ``FeedCachePolicy/clockTolerance``
  ///   can't be trusted, so such a feed is always replaced.
  func replace(for address: URL, with feed: CachedFeed, now: Date) throws(FeedStoreError) -> FeedReplacement

  /// The saved feed of `address`, without its images; `nil` if there is none. Changes nothing.
  func summary(for address: URL) throws(FeedStoreError) -> CachedFeedSummary?

  /// Records that the saved feed of `address` was still current at a later time, without changing its images.
  ///
  /// Does nothing if a different feed was saved in the meantime: one whose validators differ from
  /// ``FeedRenewal/since``.
  ///
  /// - Parameter now: as for ``replace(for:with:now:)``.
  /// - Returns: ``FeedReplacement/renewed``, or ``FeedReplacement/superseded(by:)`` if the saved timestamp is later;
  ///   `nil` if there is no such feed.
  func renew(for address: URL, with renewal: FeedRenewal, now: Date) throws(FeedStoreError) -> FeedReplacement?

  /// Deletes the feed of `address` if `condition` holds at that time; does nothing if there is no feed.
  ///
  /// - Returns: true when a feed was deleted.
  @discardableResult func delete(for address: URL, if condition: FeedDeletionCondition) throws(FeedStoreError) -> Bool

  /// The saved feeds, ordered by URL, without the images themselves. Changes nothing.
  func summaries() throws(FeedStoreError) -> [CachedFeedSummary]

  /// Deletes every feed.
  func deleteAll() throws(FeedStoreError)
}

/// The renewal of a saved feed that has not changed.
public struct FeedRenewal: Hashable, Sendable {
  /// The time of the request.
  public var timestamp: Date
  /// The saved feed's current validators.
  public var since: FeedValidators
  /// The saved feed's new validators.
  public var validators: FeedValidators

  public init(timestamp: Date, since: FeedValidators, validators: FeedValidators) {
    self.timestamp = timestamp
    self.since = since
    self.validators = validators
  }
}

extension FeedStore {
  /// Reads the whole feed by default. Implement this method in a store that doesn't need to read everything.
  public func summary(for address: URL) throws(FeedStoreError) -> CachedFeedSummary? {
    guard let feed = try retrieve(for: address) else { return nil }
    return CachedFeedSummary(
      address: address, timestamp: feed.timestamp, imageCount: feed.images.count, validators: feed.validators)
  }

  /// Reads and replaces the whole feed by default. Implement this method in a store that doesn't need to read
  /// everything.
  public func renew(
    for address: URL, with renewal: FeedRenewal, now: Date
  ) throws(FeedStoreError) -> FeedReplacement? {
    guard let feed = try retrieve(for: address), feed.validators == renewal.since else { return nil }
    return try replace(
      for: address, with: CachedFeed(feed.images, timestamp: renewal.timestamp, validators: renewal.validators),
      now: now)
  }

  /// Deletes the feed of `address`, whatever its state; does nothing if there is none.
  @discardableResult public func delete(for address: URL) throws(FeedStoreError) -> Bool {
    try delete(for: address, if: .always)
  }
}

/// The result of ``FeedStore/replace(for:with:now:)``.
public enum FeedReplacement: Hashable, Sendable {
  /// The new images are saved.
  case replaced
  /// The same images were saved already: only their timestamp was renewed.
  case renewed
  /// A newer feed, from a later request, was already saved and is kept: nothing was written.
  case superseded(by: Date)
}

/// The condition of a deletion. It is evaluated in the deletion's transaction, because another process may have saved a
/// different feed since the caller read this one.
public enum FeedDeletionCondition: Hashable, Sendable {
  /// Always.
  case always
  /// The saved feed is still the one with this timestamp.
  case timestamp(Date)
  /// The saved feed still cannot be retrieved.
  case unreadable
}

/// One entry in a store's table of contents.
public struct CachedFeedSummary: Hashable, Sendable {
  /// The URL of the feed.
  public let address: URL
  /// The time when the feed was requested.
  public let timestamp: Date
  /// The number of the feed's images.
  public let imageCount: Int
  /// The validators by which the server can tell whether the feed has changed; empty in a table of contents.
  public let validators: FeedValidators

  /// Describes a saved feed.
  public init(address: URL, timestamp: Date, imageCount: Int, validators: FeedValidators = FeedValidators()) {
    self.address = address
    self.timestamp = timestamp
    self.imageCount = imageCount
    self.validators = validators
  }
}
