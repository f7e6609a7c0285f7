public import FeedStream

/// What validation found.
public enum CacheValidation: Hashable, Sendable {
  /// Nothing is saved.
  case empty
  /// What is saved may still be shown.
  case valid
  /// What was saved had expired, and is deleted.
  case deletedExpired
  /// What was saved could not be retrieved, for this reason, and is deleted.
  case deletedUnreadable(FeedStoreError)
}

extension LocalFeed {
  /// Deletes the saved feed when it has expired or cannot be retrieved; otherwise touches nothing.
  ///
  /// Delivers what it found. **Failure:** what deletion fails with. **Cancellation:** a validation that has not begun is
  /// not begun.
  ///
  /// - Parameter maxAge: the age at which a feed has expired; `nil` for any age.
  public func validate(
    maxAge: Duration? = FeedCachePolicy.defaultMaxAge
  ) -> AnyPublisher<CacheValidation, FeedStoreError> {
    let (address, store, now) = (address, cache.store, cache.now)
    let policy = FeedCachePolicy(maxAge: maxAge)
    return cache.worker.publisher { () throws(FeedStoreError) -> CacheValidation in
      let feed: CachedFeed?
      do throws(FeedStoreError) {
        feed = try store.retrieve(for: address)
      } catch {
        return try store.delete(for: address, if: .unreadable) ? .deletedUnreadable(error) : .valid
      }
      guard let feed else { return .empty }
      if policy.isValid(feed.timestamp, now: now()) { return .valid }
      return try store.delete(for: address, if: .timestamp(feed.timestamp)) ? .deletedExpired : .valid
    }
  }
}
