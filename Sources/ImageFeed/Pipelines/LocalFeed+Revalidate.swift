public import FeedStream

extension LocalFeed {
  /// Makes `fetch` request the feed only if it is newer than the saved one.
  ///
  /// If the server says that nothing has changed, but the saved feed can't be used, the whole feed is requested.
  /// **Demand:** passes through. **Failure:** the failure of `fetch`; a cache that can't be read counts as empty.
  /// **Cancellation:** cancels the running publisher.
  ///
  /// - Parameter fetch: receives the validators of the saved feed. There are none when nothing is saved, when the cache
  ///   cannot be read, and after eight days (``FeedValidators/longestTrust``), because the whole feed is needed then.
  public func revalidated<P: Publisher>(
    by fetch: @escaping (FeedValidators) -> P
  ) -> some Publisher<P.Output, RemoteFeedError> where P.Failure == RemoteFeedError {
    trusted.setFailureType(to: RemoteFeedError.self).flatMap { known in requestingAgain(since: known, by: fetch) }
  }

  /// The validators of the saved feed, if they are still trusted.
  package var trusted: AnyPublisher<FeedValidators, Never> {
    let (address, store, now) = (address, cache.store, cache.now)
    return cache.worker.publisher { () throws(Never) -> FeedValidators in
      let known = (try? store.summary(for: address)?.validators) ?? FeedValidators()
      return known.trusted(at: now())
    }
  }
}

/// Makes `fetch` request changes since `known`. If the server says that nothing has changed, but the saved feed can't
/// be used, `fetch` then requests the whole feed.
package func requestingAgain<P: Publisher>(
  since known: FeedValidators, by fetch: @escaping (FeedValidators) -> P
) -> some Publisher<P.Output, RemoteFeedError> where P.Failure == RemoteFeedError {
  fetch(known).catch { error in
    if case .unchanged = error, known != FeedValidators() { return fetch(FeedValidators()).eraseToAnyPublisher() }
    return Fail(error: error).eraseToAnyPublisher()
  }
}
