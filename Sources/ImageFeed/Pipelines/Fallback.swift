public import FeedStream
public import Foundation

/// When a pipeline turns to the cache.
public enum FallbackPolicy: Hashable, Sendable {
  /// Whenever the server's feed cannot be had.
  case any
  /// When no response arrived; not when one arrived and was not a feed.
  case connectivity

  /// Whether the cache is asked after a load that failed with `error`.
  public func applies(to error: RemoteFeedError) -> Bool {
    switch (self, error) {
    case (.any, _), (.connectivity, .connectivity): true
    case (.connectivity, .invalidData): false
    }
  }
}

extension Publisher where Output == FeedImages, Failure == RemoteFeedError {
  /// Turns to a saved feed when this publisher fails.
  ///
  /// Each feed says where it came from. A saved feed with no images is a feed; no saved feed is an error. **Demand:**
  /// passes through. **Failure:** what this publisher failed with, and why the cache had no feed either (``FeedError``).
  /// **Cancellation:** cancels the one that runs.
  ///
  /// - Parameters:
  ///   - saved: the saved feed, or why there is none that may be shown.
  ///   - policy: after which failures.
  ///   - now: the wall clock that the saved feed's age is measured by.
  public func fallback<P: Publisher>(
    to saved: P, after policy: FallbackPolicy = .any, now: @escaping () -> Date = { Date() }
  ) -> some Publisher<Feed, FeedError> where P.Output == CachedFeed, P.Failure == CacheMiss {
    map { Feed(images: $0, source: .remote) }
      .catch { reason in
        guard policy.applies(to: reason) else {
          return Fail<Feed, FeedError>(error: FeedError(remote: reason)).eraseToAnyPublisher()
        }
        return
          saved
          .map { feed in
            let age = FeedCachePolicy.age(of: feed.timestamp, now: now())
            return Feed(images: feed.images, source: .cache(savedAt: feed.timestamp, age: age, reason: reason))
          }
          .mapError { FeedError(remote: reason, cache: $0) }
          .eraseToAnyPublisher()
      }
  }
}
