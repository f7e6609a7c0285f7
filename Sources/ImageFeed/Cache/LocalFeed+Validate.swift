public import FeedStream

/// The result of a validation.
public enum CacheValidation: Hashable, Sendable {
  /// Nothing is saved.
  case empty
  /// The saved feed may still be shown.
  case valid
  /// The saved feed had expired and was deleted.
  ///
  /// - Parameter age: as for ``CacheMiss/expired(age:)``.
  case deletedExpired(age: Duration)
  /// The saved feed could not be retrieved, for this reason, and was deleted.
  case deletedUnreadable(FeedStoreError)
}

extension LocalFeed {
  /// Deletes the saved feed if it has expired or can't be retrieved; otherwise, changes nothing.
  ///
  /// Delivers the result. **Failure:** the error of the deletion, or of a second retrieval if there was nothing to
  /// delete after the first one had failed. **Cancellation:** prevents a validation that has not begun.
  ///
  /// - Parameter maxAge: the age at which a feed expires; `nil` for never.
  public func validate(
    maxAge: Duration? = FeedCachePolicy.defaultMaxAge
  ) -> AnyPublisher<CacheValidation, FeedStoreError> {
    let (address, store, now) = (address, cache.store, cache.now)
    let policy = FeedCachePolicy(maxAge: maxAge)
    return cache.worker.publisher { () throws(FeedStoreError) -> CacheValidation in
      var feed: CachedFeed?
      do throws(FeedStoreError) {
        feed = try store.retrieve(for: address)
      } catch {
        if try store.delete(for: address, if: .unreadable) { return .deletedUnreadable(error) }
        // The feed can be read now, or is gone: the deletion renames a damaged file.
        feed = try store.retrieve(for: address)
        if feed == nil, error.cause.isDamage { return .deletedUnreadable(error) }
      }
      guard let feed else { return .empty }
      let present = now()
      guard !policy.isValid(feed.timestamp, now: present),
        try store.delete(for: address, if: .timestamp(feed.timestamp))
      else { return .valid }
      return .deletedExpired(age: FeedCachePolicy.age(of: feed.timestamp, now: present))
    }
  }
}
