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
  /// True for a smaller copy that is saved in place of the original.
  public var isReduced: Bool

  public init(_ data: ImageData, source: Source, isReduced: Bool = false) {
    self.data = data
    self.source = source
    self.isReduced = isReduced
  }

  init(_ saved: Saved<FetchedImage>, source: Source) {
    self.init(saved.value.data, source: source, isReduced: saved.value.reducedWidth != nil)
  }
}
