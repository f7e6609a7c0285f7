public import FeedStream

extension Publisher where Output == FeedImages {
  /// Saves each feed on the way, as a side effect.
  ///
  /// The feed is passed on first, and the ending waits for the save, so that a program that runs one pipeline does not
  /// exit before its cache is written. A save that was asked for is carried out even when the stream is cancelled.
  /// **Demand:** passes through, one feed at a time. **Failure:** upstream's; a save that fails does not take the feed
  /// from the user but is told to `report`.
  ///
  /// - Parameters:
  ///   - local: the saved feed to replace. It is stamped with the moment of subscription, when the server was asked.
  ///   - report: told of a save that failed.
  public func caching(
    to local: LocalFeed, reportingTo report: @escaping (FeedStoreError) -> Void
  ) -> some Publisher<Output, Failure> {
    Deferred {
      let asked = local.cache.now()
      return flatMap(maxPublishers: .max(1)) { images in
        let saved = local.saving(images, asked: asked)
          .compactMap { _ in FeedImages?.none }
          .catch { error in
            report(error)
            return Empty<FeedImages, Never>()
          }
        return Just(images)
          .append(saved)
          .setFailureType(to: Failure.self)
      }
    }
  }
}
