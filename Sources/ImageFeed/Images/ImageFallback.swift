public import FeedStream

extension Publisher where Output == Saved<FetchedImage>, Failure == CacheMiss {
  /// Requests the image from the server, unless a saved image may be shown without a request.
  ///
  /// The cache comes first, unlike for a feed, because the image at a URL rarely changes. **Demand:** passes through.
  /// **Failure:** the server's failure, and the cache's, if any. **Cancellation:** cancels the running publisher.
  ///
  /// - Parameter remote: the image from its server.
  public func fallback<P: Publisher>(
    to remote: P
  ) -> some Publisher<LoadedImage, ImageError> where P.Output == FetchedImage, P.Failure == RemoteImageError {
    map { LoadedImage($0, source: .cache(savedAt: $0.timestamp)) }
      .catch { miss in
        remote
          .map { LoadedImage($0.data, source: .remote, isReduced: $0.reducedWidth != nil) }
          .mapError { ImageError(remote: $0, cache: miss.failure) }
      }
  }
}

extension Publisher where Output == LoadedImage, Failure == ImageError {
  /// Falls back to the saved image, whatever its age, if the image's server can't be reached or sends no image.
  ///
  /// **Demand:** passes through. **Failure:** this publisher's, if the saved image is missing or can't be read.
  /// **Cancellation:** cancels the running publisher.
  ///
  /// - Parameter saved: the saved image.
  public func fallback<P: Publisher>(
    to saved: P
  ) -> some Publisher<LoadedImage, ImageError> where P.Output == Saved<FetchedImage>, P.Failure == CacheMiss {
    self.catch { error in
      saved
        .map { LoadedImage($0, source: .stale(savedAt: $0.timestamp, reason: error.remote)) }
        .mapError { _ in error }
    }
  }
}

extension Publisher where Output == LoadedImage, Failure == ImageError {
  /// Fails if the end of the image is missing (``LoadedImage/Source/part``): such an image isn't saved.
  ///
  /// **Demand, cancellation:** pass through. **Failure:** upstream's, or ``InvalidImage/cutOff(_:)``.
  package func whole() -> some Publisher<LoadedImage, ImageError> {
    flatMap(maxPublishers: .max(1)) { image -> Result<LoadedImage, ImageError>.Publisher in
      guard image.source == .part else { return .init(.success(image)) }
      return .init(.failure(ImageError(remote: .invalidData(.cutOff(image.data)))))
    }
  }

  /// Fails with the reason why the original can't be loaded if only a smaller copy is saved.
  ///
  /// **Demand, cancellation:** pass through. **Failure:** upstream's, or the reason.
  func original() -> some Publisher<LoadedImage, ImageError> {
    flatMap(maxPublishers: .max(1)) { image -> Result<LoadedImage, ImageError>.Publisher in
      guard image.isReduced, case .stale(_, let reason) = image.source else { return .init(.success(image)) }
      return .init(.failure(ImageError(remote: reason)))
    }
  }
}
