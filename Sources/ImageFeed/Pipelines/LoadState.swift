public import FeedStream

/// The state of a load for a user interface: the value, the progress, and the failure.
public enum LoadState<Value> {
  /// Nothing to show yet.
  case loading
  /// The server's value; no load is running.
  case showing(Loaded<Value>)
  /// An older value, while a request is running.
  case refreshing(Loaded<Value>)
  /// The load failed; `showing` is an older value, or `nil` if there is none.
  case failed(FeedError, showing: Loaded<Value>?)

  /// The value to show.
  public var shown: Loaded<Value>? {
    switch self {
    case .loading: nil
    case .showing(let value), .refreshing(let value): value
    case .failed(_, let value): value
    }
  }

  /// The reason why the latest load failed.
  public var error: FeedError? { if case .failed(let error, _) = self { error } else { nil } }

  /// True while a load is running.
  public var isLoading: Bool {
    switch self {
    case .loading, .refreshing: true
    case .showing, .failed: false
    }
  }
}

extension LoadState: Sendable where Value: Sendable {}
extension LoadState: Equatable where Value: Equatable {}
extension LoadState: Hashable where Value: Hashable {}

extension FeedLoader {
  /// The feed as a user interface shows it: first the saved one, then the server's, with the progress.
  ///
  ///     refreshes   ---------------x-----------x-----
  ///     states      (loading)-(refreshing old)-(showing new)-(refreshing new)-(failed, showing new)
  ///
  /// The states begin with ``LoadState/loading`` and a load in ``ReadMode/staleWhileRevalidate`` mode; each value
  /// of `refreshes` begins a new load, from the server only. A value that arrives while a load or its save is running
  /// is ignored. Finishes when `refreshes` has finished and no load is running. **Demand:** a state is held until
  /// requested.
  /// **Failure:** none: a failed load is delivered as a state, with the feed that was shown before. **Cancellation:**
  /// closes the request immediately; a save that was requested is completed.
  ///
  /// - Parameter refreshes: each value triggers a new request, for example after a tap on a button. There are none by
  ///   default.
  public func states(
    refreshedBy refreshes: AnyPublisher<Void, Never> = Empty().eraseToAnyPublisher()
  ) -> AnyPublisher<LoadState<FeedImages>, Never> {
    refreshes.map { latestFeed() }
      .prepend(savedThenLatest)
      .flatMapFirst { load in load.asResult().map(Optional.some).prepend(nil) }
      .scan(LoadState<FeedImages>.loading) { state, news in state.following(news) }
      .eraseToAnyPublisher()
  }
}

extension LoadState<FeedImages> {
  /// - Parameter news: the result of a load; `nil` at its beginning.
  fileprivate func following(_ news: FeedResult?) -> LoadState {
    switch news {
    case nil: return shown.map(LoadState.refreshing) ?? .loading
    case .success(let feed)?:
      switch feed.source {
      case .remote: return .showing(feed)
      // The server's feed follows the saved one.
      case .cache: return .refreshing(feed)
      case .part(let reason): return .failed(FeedError(remote: reason), showing: feed)
      }
    case .failure(let error)?:
      // A part replaces only an earlier part, never a complete feed.
      let isPart = shown?.source.isPart ?? true
      return .failed(error, showing: isPart ? error.part ?? shown : shown)
    }
  }
}
