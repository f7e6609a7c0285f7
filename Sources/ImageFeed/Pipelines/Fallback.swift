public import FeedStream
public import Foundation

/// The failures after which a pipeline uses the cache.
public enum FallbackPolicy: String, CaseIterable, Sendable {
  /// Every failure to get the server's feed.
  case any
  /// No complete response arrived, or only part of a feed did. A complete response that isn't a feed doesn't count.
  case connectivity

  /// True if the cache is used after a load fails with `error`.
  public func applies(to error: RemoteFeedError) -> Bool {
    switch (self, error) {
    case (.any, _), (.connectivity, .connectivity), (.connectivity, .unchanged), (.connectivity, .notDue),
      (.connectivity, .notAsked), (.connectivity, .invalidData(.cutOff)):
      true
    case (.connectivity, .invalidData): false
    }
  }
}

extension Publisher where Failure == RemoteFeedError {
  /// Replaces a failure of this publisher with a saved value.
  ///
  /// Each value includes its origin. A saved feed with no images is a value; a missing saved feed is an error.
  /// **Demand:** passes through. **Failure:** this publisher's failure, and the reason why the cache had no value
  /// either (``FeedError``). **Cancellation:** cancels the running publisher.
  ///
  /// - Parameters:
  ///   - saved: the saved value, or the reason why there is none to show.
  ///   - policy: the failures to replace.
  ///   - now: the wall clock for the saved value's age.
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
          .map { Loaded($0, because: reason, now: now()) }
          .mapError { FeedError(remote: reason, cache: $0) }
          .eraseToAnyPublisher()
      }
  }
}
