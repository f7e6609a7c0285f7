public import Foundation

/// The reason why an image could not be loaded from its server.
public enum RemoteImageError: Error, Hashable, Sendable {
  /// No complete response arrived.
  case connectivity(HTTPError)
  /// A response arrived, but it isn't an image.
  case invalidData(InvalidImage)
  /// The server said that the saved image is still the latest (status 304). The lifetime is the new one, if the server
  /// states one.
  case unchanged(FeedValidators, lifetime: Duration?)
}

extension RemoteImageError: FetchFailure {
  public var unchangedValidators: FeedValidators? {
    if case .unchanged(let validators, _) = self { validators } else { nil }
  }
}

extension RemoteImageError: CustomStringConvertible, LocalizedError {
  public var description: String {
    switch self {
    case .connectivity(let error): "\(error)"
    case .invalidData(let error): "\(error)"
    case .unchanged: "The server says that nothing has changed since the last request."
    }
  }

  public var errorDescription: String? { description }
}

/// The reason why there is no image to show.
public struct ImageError: Error, Hashable, Sendable {
  /// The reason why the server's image is unavailable.
  public var remote: RemoteImageError
  /// The cache's failure; `nil` if the cache simply had no image.
  public var cache: FeedStoreError?

  public init(remote: RemoteImageError, cache: FeedStoreError? = nil) {
    self.remote = remote
    self.cache = cache
  }
}

extension ImageError: CustomStringConvertible, LocalizedError {
  public var description: String { cache.map { "\(remote) \($0)" } ?? "\(remote)" }

  public var errorDescription: String? { description }
}

extension ImageError {
  /// True if the feed may not load the image, because that is in a private network; another feed may.
  package var isRefusal: Bool {
    guard case .connectivity(let error) = remote else { return false }
    return error.kind == .privateNetwork
  }
}
