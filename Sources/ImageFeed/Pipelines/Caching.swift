public import FeedStream
public import Foundation

/// The store in which ``FeedStream/Publisher/caching(to:since:reportingTo:)`` keeps the latest value.
public protocol LocalCopy<Value> {
  associatedtype Value

  /// The wall clock.
  var now: @Sendable () -> Date { get }

  /// Replaces the saved value immediately, with or without a subscriber; finishes without a value when the save is
  /// complete.
  func saving(_ value: Saved<Value>) -> AnyPublisher<Value, FeedStoreError>

  /// The saved value, whatever its age; finishes without a value if there is none.
  func retrieve() -> AnyPublisher<Saved<Value>, FeedStoreError>

  /// Records immediately, with or without a subscriber, that the saved value, which is `value`, was still current after
  /// its timestamp; finishes without a value when that is complete.
  func renewing(_ value: Saved<Value>, with renewal: FeedRenewal) -> AnyPublisher<Value, FeedStoreError>
}

extension LocalCopy {
  /// Saves the value again by default.
  public func renewing(_ value: Saved<Value>, with renewal: FeedRenewal) -> AnyPublisher<Value, FeedStoreError> {
    saving(Saved(value.value, timestamp: renewal.timestamp, validators: renewal.validators))
  }
}

extension LocalFeed: LocalCopy {
  public var now: @Sendable () -> Date { cache.now }

  public func saving(_ feed: CachedFeed) -> AnyPublisher<FeedImages, FeedStoreError> {
    replacing(feed).compactMap { _ in nil }.eraseToAnyPublisher()
  }

  public func renewing(_ feed: CachedFeed, with renewal: FeedRenewal) -> AnyPublisher<FeedImages, FeedStoreError> {
    renewing(with: renewal).compactMap { _ in nil }.eraseToAnyPublisher()
  }
}

/// The reason why a server delivered no value: the failure of a publisher for
/// ``FeedStream/Publisher/caching(to:since:reportingTo:)``.
public protocol FetchFailure: Error {
  /// The validators of a response with status 304; `nil` for any other failure.
  var unchangedValidators: FeedValidators? { get }
}

extension RemoteFeedError: FetchFailure {
  public var unchangedValidators: FeedValidators? {
    if case .unchanged(let validators) = self { validators } else { nil }
  }
}

extension Publisher where Failure: FetchFailure {
  /// Saves each value that passes through, as a side effect.
  ///
  /// The value is passed on first, and the completion waits for the save, so that a program that runs one pipeline does
  /// not exit before its cache is written. A requested save is completed even if the stream is cancelled. When the
  /// server says that nothing has changed, the saved value is delivered and renewed with the time of the request; if
  /// there is none, the stream fails. **Demand:** passes through, one value at a time. **Failure:** upstream's; a
  /// failed save is reported, and the value is still delivered.
  ///
  /// - Parameters:
  ///   - copy: the store for the values. A value's timestamp is the time of the subscription, when the request was
  ///     sent.
  ///   - known: the validators sent to the server; if there are none, the request was unconditional. "Unchanged" refers
  ///     only to a value that was saved with the same validators.
  ///   - report: receives the error of a failed save.
  public func caching<Copy: LocalCopy>(
    to copy: Copy, since known: FeedValidators = FeedValidators(),
    reportingTo report: @escaping (FeedStoreError) -> Void
  ) -> some Publisher<Copy.Value, Failure> where Output == Fetched<Copy.Value> {
    caching(to: copy, since: known, askedAt: { copy.now() }, reportingTo: report)
  }

  /// - Parameters:
  ///   - time: called when the publisher is subscribed to; returns the time of the values' request.
  ///   - renewal: called for each value; returns the later time at which the value was still current, which is its
  ///     timestamp.
  func caching<Copy: LocalCopy>(
    to copy: Copy, since known: FeedValidators = FeedValidators(), askedAt time: @escaping () -> Date,
    renewedAt renewal: @escaping () -> Date? = { nil }, reportingTo report: @escaping (FeedStoreError) -> Void
  ) -> some Publisher<Copy.Value, Failure> where Output == Fetched<Copy.Value> {
    Deferred {
      let asked = time()
      return self.map { fetched in
        var validators = fetched.validators
        validators.wholeAsked = asked
        let timestamp = renewal() ?? asked
        return Saving(fetched.value) { copy.saving(Saved($0, timestamp: timestamp, validators: validators)) }
      }
      .catch { copy.renewal(after: $0, asked: asked, since: known) }
      .flatMap(maxPublishers: .max(1)) { saving in
        Just(saving.value)
          .append(
            saving.save(saving.value)
              .catch { error in
                report(error)
                return Empty<Copy.Value, Never>()
              }
          )
          .setFailureType(to: Failure.self)
      }
    }
  }
}

/// A value, and how it is saved.
private struct Saving<Value> {
  let value: Value
  let save: (Value) -> AnyPublisher<Value, FeedStoreError>

  init(_ value: Value, _ save: @escaping (Value) -> AnyPublisher<Value, FeedStoreError>) {
    self.value = value
    self.save = save
  }
}

extension LocalCopy {
  /// The saved value, if it is the one that the server says is unchanged.
  fileprivate func renewal<E: FetchFailure>(
    after error: E, asked: Date, since known: FeedValidators
  ) -> AnyPublisher<Saving<Value>, E> {
    guard let news = error.unchangedValidators else { return Fail(error: error).eraseToAnyPublisher() }
    return retrieve()
      .filter { saved in
        news.digest.map { $0 == saved.validators.digest } ?? (known.isEmpty || known.matches(saved.validators))
      }
      .map { saved in
        var validators = saved.validators.updated(by: news)
        if known.isEmpty || news.digest != nil { validators.wholeAsked = asked }
        let renewal = FeedRenewal(timestamp: asked, since: saved.validators, validators: validators)
        return Saving(saved.value) { _ in renewing(saved, with: renewal) }
      }
      .mapError { _ in error }
      .switchIfEmpty(Fail(error: error))
      .eraseToAnyPublisher()
  }
}
