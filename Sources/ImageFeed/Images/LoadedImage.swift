public import Foundation

/// A picture's data, and where it came from.
public struct LoadedImage: Hashable, Sendable {
  /// The origin of a picture.
  public enum Source: Hashable, Sendable {
    /// The server, just now.
    case remote
    /// The cache, which had it and was asked first.
    case cache(savedAt: Date)
    /// The cache, because the server was asked again and could not give it.
    case stale(savedAt: Date, reason: RemoteImageError)
  }

  public var data: ImageData
  public var source: Source

  public init(_ data: ImageData, source: Source) {
    self.data = data
    self.source = source
  }
}
