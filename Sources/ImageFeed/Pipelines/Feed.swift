public import Foundation

/// A feed to show, and where it came from.
public struct Feed: Hashable, Sendable {
  /// The images, in the server's order. None is a feed too.
  public var images: FeedImages
  public var source: Source

  public init(images: FeedImages, source: Source) {
    self.images = images
    self.source = source
  }

  public init(images: some Sequence<FeedImage>, source: Source) {
    self.init(images: FeedImages(images), source: source)
  }

  /// Where a feed came from.
  public enum Source: Hashable, Sendable {
    /// The server, just now.
    case remote
    /// The cache, because the server could not be had.
    ///
    /// - Parameters:
    ///   - savedAt: when the server was asked for it.
    ///   - age: how long ago that was when it was loaded.
    ///   - reason: why the server's feed could not be had.
    case cache(savedAt: Date, age: Duration, reason: RemoteFeedError)
  }
}

extension Feed.Source {
  /// Whether the feed came from its server.
  public var isRemote: Bool { self == .remote }
}
