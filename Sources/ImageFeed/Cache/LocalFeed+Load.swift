public import FeedStream

extension LocalFeed {
  /// The saved feed, however old.
  ///
  /// Finishes without a value when nothing is saved. No side effects. **Demand:** the feed is held until asked for.
  /// **Failure:** what retrieval fails with. **Cancellation:** a retrieval that has not begun is not begun.
  public func retrieve() -> AnyPublisher<CachedFeed, FeedStoreError> {
    load(maxAge: nil)
  }

  /// The saved feed, unless it has expired.
  ///
  /// Finishes without a value when nothing is saved, or when what is saved is `maxAge` old or older (see
  /// ``FeedCachePolicy``). **Demand:** the feed is held until asked for. **Failure:** what retrieval fails with, or a
  /// deletion that was asked for. **Cancellation:** a retrieval that has not begun is not begun.
  ///
  /// - Parameters:
  ///   - maxAge: the age at which a feed has expired; `nil` for any age.
  ///   - deleting: what to delete on the way; nothing by default.
  public func load(
    maxAge: Duration? = FeedCachePolicy.defaultMaxAge, deleting: CacheCleaning = .nothing
  ) -> AnyPublisher<CachedFeed, FeedStoreError> {
    load(maxAge: maxAge, deleting: deleting, after: nil)
  }

  /// The same, with images that are those of the poll before passed on as the same array.
  func load(
    maxAge: Duration?, deleting: CacheCleaning, after last: LastImages?
  ) -> AnyPublisher<CachedFeed, FeedStoreError> {
    let (address, store, now) = (address, cache.store, cache.now)
    let policy = FeedCachePolicy(maxAge: maxAge)
    return cache.worker.publisher { () throws(FeedStoreError) -> CachedFeed? in
      do throws(FeedStoreError) {
        guard let feed = try store.retrieve(for: address) else { return nil }
        if policy.isValid(feed.timestamp, now: now()) {
          return last.map { CachedFeed(images: $0.settle(feed.images), timestamp: feed.timestamp) } ?? feed
        }
        if deleting != .nothing { try store.delete(for: address, if: .timestamp(feed.timestamp)) }
        return nil
      } catch {
        guard case .retrieval = error, deleting == .invalid else { throw error }
        do throws(FeedStoreError) {
          try store.delete(for: address, if: .unreadable)
        } catch let failure where failure.cause != error.cause {
          // The deletion has a trouble of its own.
          throw failure
        } catch {}
        throw error
      }
    }
    .compactMap { $0 }
    .eraseToAnyPublisher()
  }
}
