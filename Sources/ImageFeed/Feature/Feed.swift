public import Foundation

/// A feed to show, and where it came from.
public struct Feed: Hashable, Sendable {
  /// The images, in the server's order. None is a feed too.
  public var images: [FeedImage]
  public var origin: Origin

  public init(images: [FeedImage], origin: Origin) {
    self.images = images
    self.origin = origin
  }

  /// Where a feed came from.
  public enum Origin: Hashable, Sendable {
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

/// Why a feed could not be loaded from its server.
public enum RemoteFeedError: Error, Hashable, Sendable {
  /// No whole response arrived.
  case connectivity(HTTPError)
  /// A response arrived, and was not a feed.
  case invalidData(InvalidData)
}

/// Why there is no feed to show: the server's feed could not be had, and the cache had none either.
public struct FeedError: Error, Hashable, Sendable {
  /// What kept the server's feed away.
  public var remote: RemoteFeedError
  /// What the cache failed with; `nil` when it was not asked, or when it had no feed that may still be shown.
  public var cache: FeedStoreError?

  public init(remote: RemoteFeedError, cache: FeedStoreError? = nil) {
    self.remote = remote
    self.cache = cache
  }
}

extension RemoteFeedError: CustomStringConvertible, LocalizedError {
  public var description: String {
    switch self {
    case .connectivity(let error): "\(error)"
    case .invalidData(let error): "\(error)"
    }
  }

  public var errorDescription: String? { description }
}

extension FeedError: CustomStringConvertible, LocalizedError {
  public var description: String {
    cache.map { "\(remote) \($0)" } ?? "\(remote)"
  }

  public var errorDescription: String? { description }
}
