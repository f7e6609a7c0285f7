public import FeedStream

/// The result of a load.
public typealias FeedResult = Result<Feed, FeedError>

extension FeedLoader {
  /// Loads the feed immediately and then every `interval`, and delivers changes.
  ///
  /// Only one load runs at a time: a tick during a load is skipped. After a long load, the next tick is a whole
  /// interval away, so there is never a burst. A result that is the same as the previous one (the same images from the
  /// same origin, or the same error) is not delivered. Never finishes. **Demand:** passes through; without demand,
  /// nothing is loaded. **Failure:** none: a failed load is delivered as a value, and the next load follows.
  /// **Cancellation:** immediate.
  public func updates(every interval: Duration) -> AnyPublisher<FeedResult, Never> {
    Deferred {
      Interval(every: interval, scheduler: scheduler)
        .map { _ in }
        .prepend(())
        .flatMap(maxPublishers: .max(1)) { load().asResult() }
        .removeDuplicates { $0.showsTheSame(as: $1) }
    }
    .eraseToAnyPublisher()
  }
}

extension Publisher {
  /// Delivers each value as a success, and the failure as the last value; cannot fail.
  package func asResult() -> some Publisher<Result<Output, Failure>, Never> {
    map { .success($0) }
      .catch { Just(.failure($0)) }
  }
}

extension FeedResult {
  /// True if a user would see no difference. The age of a saved feed does not count. Neither does the difference
  /// between an expired feed and none.
  fileprivate func showsTheSame(as other: FeedResult) -> Bool {
    switch (self, other) {
    case (.success(let a), .success(let b)):
      a.images == b.images && (a.source.isRemote, a.source.isPart) == (b.source.isRemote, b.source.isPart)
    case (.failure(let a), .failure(let b)): a.remote == b.remote && a.cache.failure == b.cache.failure
    default: false
    }
  }
}
