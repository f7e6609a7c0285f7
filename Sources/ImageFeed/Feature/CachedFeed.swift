public import Foundation

/// A saved feed and the moment it speaks of.
public struct CachedFeed: Hashable, Sendable {
  /// The images in the server's order. A feed with no images is a feed, not a missing one.
  public let images: FeedImages
  /// The moment this feed was asked for, by the wall clock.
  ///
  /// It is both what the feed's age is counted from and what decides which of two responses is the newer: stamp a feed
  /// when its request is *sent*, and a slow response that arrives after a later request's cannot pass for the newer one.
  public let timestamp: Date
  /// What the server can tell by whether the feed has changed since; empty when it gave nothing.
  public let validators: FeedValidators

  /// Pairs images with their moment.
  public init(images: FeedImages, timestamp: Date, validators: FeedValidators = FeedValidators()) {
    self.images = images
    self.timestamp = timestamp
    self.validators = validators
  }

  /// Pairs images with their moment.
  public init(
    images: some Sequence<FeedImage>, timestamp: Date, validators: FeedValidators = FeedValidators()
  ) {
    self.init(images: FeedImages(images), timestamp: timestamp, validators: validators)
  }
}
