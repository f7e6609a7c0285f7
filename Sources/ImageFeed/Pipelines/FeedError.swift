public import Foundation

/// Why a feed could not be loaded from its server.
public enum RemoteFeedError: Error, Hashable, Sendable {
  /// No whole response arrived.
  case connectivity(HTTPError)
  /// A response arrived, and was not a feed.
  case invalidData(InvalidData)
  /// The server said that what it sent before is still the latest (status 304).
  case unchanged(FeedValidators)
}

/// Why there is no feed to show: what kept the server's feed away, and why the cache had none either.
public struct FeedError: Error, Hashable, Sendable {
  /// What kept the server's feed away.
  public var remote: RemoteFeedError
  /// Why the cache had no feed either.
  public var cache: CacheMiss

  public init(remote: RemoteFeedError, cache: CacheMiss = .notAsked) {
    self.remote = remote
    self.cache = cache
  }
}

extension RemoteFeedError: CustomStringConvertible, LocalizedError {
  public var description: String {
    switch self {
    case .connectivity(let error): "\(error)"
    case .invalidData(let error): "\(error)"
    case .unchanged: "The server says that nothing has changed since it was last asked."
    }
  }

  public var errorDescription: String? { description }
}

extension FeedError: CustomStringConvertible, LocalizedError {
  /// What kept the server's feed away, and what the cache had to say, if it was asked.
  public var description: String {
    let reason = "\(remote)"
    if cache == .notAsked { return reason }
    return "\(reason)\(reason.last.map(".?!".contains) == true ? "" : ".") \(cache)"
  }

  public var errorDescription: String? { description }
}
