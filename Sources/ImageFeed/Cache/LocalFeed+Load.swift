public import FeedStream
import Foundation

extension LocalFeed {
  /// The saved feed, whatever its age.
  ///
  /// Finishes without a value if nothing is saved. Has no side effects. **Demand:** the feed is held until requested.
  /// **Failure:** the retrieval's error. **Cancellation:** prevents a retrieval that has not begun.
  public func retrieve() -> AnyPublisher<CachedFeed, FeedStoreError> {
    let (address, store) = (address, cache.store)
    return cache.worker.publisher { () throws(FeedStoreError) in try store.retrieve(for: address) }
      .compactMap { $0 }
      .eraseToAnyPublisher()
  }

  /// The saved feed, unless it has expired.
  ///
  /// **Demand:** the feed is held until requested. **Failure:** a ``CacheMiss`` if nothing is saved, if the saved feed
  /// is `maxAge` old or older (see ``FeedCachePolicy``), or if it can't be read. The miss gives the reason, and the
  /// fate of an expired feed. **Cancellation:** prevents a retrieval that has not begun.
  ///
  /// - Parameters:
  ///   - maxAge: the age at which a feed expires; `nil` for never.
  ///   - deleting: the feeds to delete; none by default. A feed that has expired only according to `maxAge` is kept:
  ///     see ``FeedCache/init(store:on:policy:now:)``.
  public func load(
    maxAge: Duration? = FeedCachePolicy.defaultMaxAge, deleting: CacheCleaning = .nothing
  ) -> AnyPublisher<CachedFeed, CacheMiss> {
    let (address, store, now) = (address, cache.store, cache.now)
    let (policy, deletionPolicy) = (FeedCachePolicy(maxAge: maxAge), cache.policy)
    return cache.worker.publisher { () throws(CacheMiss) -> CachedFeed in
      let saved: CachedFeed?
      do throws(FeedStoreError) {
        saved = try store.retrieve(for: address)
      } catch {
        throw .failed(deleting == .invalid ? store.deleteUnreadable(at: address, after: error) : error)
      }
      guard let saved else { throw .empty }
      let present = now()
      guard policy.isValid(saved.timestamp, now: present) else {
        let isKept = deleting == .nothing || deletionPolicy.isValid(saved.timestamp, now: present)
        let fate = isKept ? .kept : store.deleteExpired(saved, at: address)
        throw .expired(age: FeedCachePolicy.age(of: saved.timestamp, now: present), fate)
      }
      return saved
    }
  }
}

extension FeedStore {
  fileprivate func deleteExpired(_ feed: CachedFeed, at address: URL) -> CacheMiss.Fate {
    do throws(FeedStoreError) {
      return try delete(for: address, if: .timestamp(feed.timestamp)) ? .deleted : .kept
    } catch {
      return .undeletable(error)
    }
  }

  /// - Returns: the error to report: the deletion's error if it has a different cause, otherwise the retrieval's error.
  fileprivate func deleteUnreadable(at address: URL, after error: FeedStoreError) -> FeedStoreError {
    do throws(FeedStoreError) {
      try delete(for: address, if: .unreadable)
      return error
    } catch let failure {
      return failure.cause == error.cause ? error : failure
    }
  }
}
