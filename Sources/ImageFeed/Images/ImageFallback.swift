public import FeedStream

extension Publisher where Output == Saved<FetchedImage>, Failure == CacheMiss {
  /// Turns to the server when no picture is saved, or none that may be shown without asking again.
  ///
  /// The opposite order of a feed: a picture at an address hardly ever changes. **Demand:** passes through. **Failure:** what
  /// the server failed with, and what the cache failed with, if it did. **Cancellation:** cancels the one that runs.
  ///
  /// - Parameter remote: the picture from its server.
  public func fallback<P: Publisher>(
    to remote: P
  ) -> some Publisher<LoadedImage, ImageError> where P.Output == FetchedImage, P.Failure == RemoteImageError {
    map { LoadedImage($0.value.data, source: .cache(savedAt: $0.timestamp)) }
      .catch { miss in
        remote
          .map { LoadedImage($0.data, source: .remote) }
          .mapError { ImageError(remote: $0, cache: miss.failure) }
      }
  }
}

extension Publisher where Output == LoadedImage, Failure == ImageError {
  /// Turns to the saved picture, however old, when its server cannot be reached or gives none.
  ///
  /// **Demand:** passes through. **Failure:** this publisher's, when nothing is saved. **Cancellation:** cancels the one that
  /// runs.
  ///
  /// - Parameter saved: the saved picture.
  public func fallback<P: Publisher>(
    to saved: P
  ) -> some Publisher<LoadedImage, ImageError> where P.Output == Saved<FetchedImage>, P.Failure == CacheMiss {
    self.catch { error in
      saved
        .map { LoadedImage($0.value.data, source: .stale(savedAt: $0.timestamp, reason: error.remote)) }
        .mapError { _ in error }
    }
  }
}
