public import Foundation

/// An image's data, and its origin.
public struct LoadedImage: Hashable, Sendable {
  /// The origin of an image.
  public enum Source: Hashable, Sendable {
    /// The server, just now.
    case remote
    /// The server, just now; the end of the image is missing, so it isn't saved.
    case part
    /// The cache, which was read first.
    case cache(savedAt: Date)
    /// The cache, because a new request to the server failed.
    case stale(savedAt: Date, reason: RemoteImageError)
  }

  public var data: ImageData
  public var source: Source

  public init(_ data: ImageData, source: Source) {
    self.data = data
    self.source = source
  }
}
