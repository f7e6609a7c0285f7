public import FeedStream
public import Foundation

extension LocalFeed {
  /// Replaces the saved feed with `images`, stamped with the current time.
  ///
  /// Delivers the result. Deleting the old feed and inserting the new one are one transaction: after a deletion error
  /// or an insertion error, which are distinct, the old feed is intact. **Cancellation:** prevents a save that has not
  /// begun; the result of one that has begun is not delivered.
  ///
  /// - Parameter asked: the time when `images` were requested, if not now. A feed is not replaced by one that was
  ///   requested earlier but arrived later.
  public func save(_ images: FeedImages, asked: Date? = nil) -> AnyPublisher<FeedReplacement, FeedStoreError> {
    Deferred { replacing(CachedFeed(images: images, timestamp: asked ?? cache.now())) }.eraseToAnyPublisher()
  }

  /// Replaces the saved feed immediately, with or without a subscriber: ``save(_:asked:)`` as a side effect.
  func replacing(_ feed: CachedFeed) -> Future<FeedReplacement, FeedStoreError> {
    let (address, store, now) = (address, cache.store, cache.now)
    return Future { promise in
      cache.worker.perform(
        { () throws(FeedStoreError) -> FeedReplacement in
          try store.replace(for: address, with: feed, now: now())
        }, completion: promise)
    }
  }

  /// Renews the saved feed immediately, with or without a subscriber.
  func renewing(with renewal: FeedRenewal) -> Future<FeedReplacement?, FeedStoreError> {
    let (address, store, now) = (address, cache.store, cache.now)
    return Future { promise in
      cache.worker.perform(
        { () throws(FeedStoreError) -> FeedReplacement? in
          try store.renew(for: address, with: renewal, now: now())
        }, completion: promise)
    }
  }
}
