public import FeedStream

extension Publisher where Output == Feed, Failure == FeedError {
  /// Replaces a failure with the part of the feed that arrived, if there is one (``InvalidData/cutOff(_:)``).
  ///
  /// Put this operator last, after `fallback`: a saved feed is better than part of a newer one, and the part is never
  /// saved. The feed's source marks it as partial (``LoadSource/part(reason:)``). **Demand:** passes through.
  /// **Failure:** upstream's, if no part arrived. **Cancellation:** passes through.
  public func showingParts() -> some Publisher<Feed, FeedError> {
    self.catch { error -> Result<Feed, FeedError>.Publisher in
      .init(error.part.map(Result.success) ?? .failure(error))
    }
  }
}

extension FeedError {
  /// The part of the server's feed that arrived, if the feed's end is missing.
  var part: Feed? {
    guard case .invalidData(.cutOff(let images)) = remote else { return nil }
    return Feed(images: images, source: .part(reason: remote))
  }
}
