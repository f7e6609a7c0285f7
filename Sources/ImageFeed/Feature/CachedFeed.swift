public import Foundation

/// A saved feed and its timestamp.
public typealias CachedFeed = Saved<FeedImages>

extension Saved where Value == FeedImages {
  /// The images in the server's order. A feed with no images is valid; it doesn't count as missing.
  public var images: FeedImages { value }

  /// Creates a saved feed from images and their timestamp.
  public init(images: FeedImages, timestamp: Date, validators: FeedValidators = FeedValidators()) {
    self.init(images, timestamp: timestamp, validators: validators)
  }

  /// Creates a saved feed from images and their timestamp.
  public init(
    images: some Sequence<FeedImage>, timestamp: Date, validators: FeedValidators = FeedValidators()
  ) {
    self.init(FeedImages(images), timestamp: timestamp, validators: validators)
  }
}
