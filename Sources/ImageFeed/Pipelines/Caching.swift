public import FeedStream
public import Foundation

/// Where the latest of some values is saved: what ``FeedStream/Publisher/caching(to:reportingTo:)`` writes.
public protocol LocalCopy<Value> {
  associatedtype Value

  /// The wall clock.
  var now: @Sendable () -> Date { get }

  /// Begins to replace what is saved immediately, whoever listens; finishes without a value when that is done.
  func saving(_ value: Saved<Value>) -> AnyPublisher<Value, FeedStoreError>

  /// What is saved, however old; finishes without a value when there is nothing.
  func retrieve() -> AnyPublisher<Saved<Value>, FeedStoreError>
}

extension LocalFeed: LocalCopy {
  public var now: @Sendable () -> Date { cache.now }

  public func saving(_ feed: CachedFeed) -> AnyPublisher<FeedImages, FeedStoreError> {
    replacing(feed).compactMap { _ in nil }.eraseToAnyPublisher()
  }
}

extension Publisher where Failure == RemoteFeedError {
  /// Saves each value on the way, as a side effect.
  ///
  /// The value is passed on first, and the ending waits for the save, so that a program that runs one pipeline does not
  /// exit before its cache is written. A save that was asked for is carried out even when the stream is cancelled. When
  /// the server says that nothing has changed, the saved value is passed on and saved anew, as of now. **Demand:** passes
  /// through, one value at a time. **Failure:** upstream's; a save that fails does not take the value from the user but is
  /// reported.
  ///
  /// - Parameters:
  ///   - copy: what is saved. It is stamped with the moment of subscription, when the server was asked.
  ///   - report: is given the error of a save that failed.
  public func caching<Copy: LocalCopy>(
    to copy: Copy, reportingTo report: @escaping (FeedStoreError) -> Void
  ) -> some Publisher<Copy.Value, RemoteFeedError> where Output == Fetched<Copy.Value> {
    Deferred {
      let asked = copy.now()
      return self.catch { copy.value(after: $0) }
        .flatMap(maxPublishers: .max(1)) { fetched in
          Just(fetched.value)
            .append(
              copy.saving(Saved(fetched.value, timestamp: asked, validators: fetched.validators))
                .catch { error in
                  report(error)
                  return Empty<Copy.Value, Never>()
                }
            )
            .setFailureType(to: RemoteFeedError.self)
        }
    }
  }
}

extension LocalCopy {
  /// What is saved, if that is what the server says is still the latest.
  fileprivate func value(after error: RemoteFeedError) -> AnyPublisher<Fetched<Value>, RemoteFeedError> {
    guard case .unchanged(let validators) = error else { return Fail(error: error).eraseToAnyPublisher() }
    return retrieve()
      .map { saved in Fetched(saved.value, validators: validators.isEmpty ? saved.validators : validators) }
      .mapError { _ in error }
      .switchIfEmpty(Fail(error: error))
      .eraseToAnyPublisher()
  }
}
