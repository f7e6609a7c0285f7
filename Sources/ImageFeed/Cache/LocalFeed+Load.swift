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

  /// The saved feed, unless it has expired. Has no side effects; ``validate(maxAge:)`` deletes what has expired.
  ///
  /// **Demand:** the feed is held until requested. **Failure:** a ``CacheMiss`` if nothing is saved, if the saved feed
  /// is `maxAge` old or older (see ``FeedCachePolicy``), or if it can't be read. **Cancellation:** prevents a retrieval
  /// that has not begun.
  ///
  /// - Parameter maxAge: the age at which a feed expires; `nil` for never.
  public func load(maxAge: Duration? = FeedCachePolicy.defaultMaxAge) -> AnyPublisher<CachedFeed, CacheMiss> {
    let (address, store, now) = (address, cache.store, cache.now)
    let policy = FeedCachePolicy(maxAge: maxAge)
    return cache.worker.publisher { () throws(CacheMiss) -> CachedFeed in
      let saved: CachedFeed?
      do throws(FeedStoreError) {
        saved = try store.retrieve(for: address)
      } catch {
        throw .failed(error)
      }
      guard let saved else { throw .empty }
      let present = now()
      guard policy.isValid(saved.timestamp, now: present) else {
        throw .expired(age: FeedCachePolicy.age(of: saved.timestamp, now: present))
      }
      return saved
    }
  }
}
