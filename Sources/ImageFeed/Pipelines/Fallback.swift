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
    case (.any, _), (.connectivity, .connectivity), (.connectivity, .unchanged): true
    case (.connectivity, .invalidData): false
    }
  }
}

extension Publisher where Failure == RemoteFeedError {
  /// Turns to a saved value when this publisher fails.
  ///
  /// Each value says where it came from. A saved feed with no images is a feed; no saved feed is an error. **Demand:**
  /// passes through. **Failure:** what this publisher failed with, and why the cache had none either (``FeedError``).
  /// **Cancellation:** cancels the one that runs.
  ///
  /// - Parameters:
  ///   - saved: the saved value, or why there is none that may be shown.
  ///   - policy: after which failures.
  ///   - now: the wall clock that the saved value's age is measured by.
  public func fallback<P: Publisher>(
    to saved: P, after policy: FallbackPolicy = .any, now: @escaping () -> Date = { Date() }
  ) -> some Publisher<Loaded<Output>, FeedError> where P.Output == Saved<Output>, P.Failure == CacheMiss {
    map { Loaded($0, source: .remote) }
      .catch { reason in
        guard policy.applies(to: reason) else {
          return Fail<Loaded<Output>, FeedError>(error: FeedError(remote: reason)).eraseToAnyPublisher()
        }
        return
          saved
          .map { saved in
            let age = FeedCachePolicy.age(of: saved.timestamp, now: now())
            return Loaded(saved.value, source: .cache(savedAt: saved.timestamp, age: age, reason: reason))
          }
          .mapError { FeedError(remote: reason, cache: $0) }
          .eraseToAnyPublisher()
      }
  }
}
