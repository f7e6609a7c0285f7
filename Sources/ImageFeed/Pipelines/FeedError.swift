public import Foundation
import PlainText

/// The reason why a feed could not be loaded from its server.
public enum RemoteFeedError: Error, Hashable, Sendable {
  /// No complete response arrived.
  case connectivity(HTTPError)
  /// A response arrived, but it isn't a feed.
  case invalidData(InvalidData)
  /// The server's previous response is still the latest (status 304).
  case unchanged(FeedValidators)
  /// No request was made, because the next one is not due until `until` (`nil` for never). The text is the reason,
  /// worded to follow "because".
  case notDue(until: Date?, String)
  /// No request was allowed: see ``ReadMode``.
  case notAsked
}

extension RemoteFeedError {
  /// True if the same request may succeed a little later: the host was not found or not reached, the connection broke,
  /// the request timed out, this machine ran out of resources, or the document is cut off. False after a complete
  /// response of any status, after a response that is too large or isn't HTTP, and if the server isn't trusted.
  public var isWorthRetrying: Bool {
    if case .invalidData(.cutOff) = self { return true }
    guard case .connectivity(let error) = self else { return false }
    return error.isPassing
  }

  /// True if no request was made: nothing is known about the server's feed.
  public var isWithoutRequest: Bool {
    switch self {
    case .notDue, .notAsked: true
    case .connectivity, .invalidData, .unchanged: false
    }
  }
}

/// The reason why there is no feed to show: from the server, and from the cache.
public struct FeedError: Error, Hashable, Sendable {
  /// The reason why the server's feed is unavailable.
  public var remote: RemoteFeedError
  /// The reason why the cache had no feed either.
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
    case .notDue(nil, let reason): "The feed is no longer requested, because \(reason)."
    case .notDue(let date?, let reason):
      "The feed will be requested again at \(date.dayAndTime), because \(reason)."
    case .notAsked: "No request was made."
    case .unchanged: "The server says that nothing has changed since the last request."
    }
  }

  public var errorDescription: String? { description }
}

extension FeedError: CustomStringConvertible, LocalizedError {
  /// The reason why the server's feed is unavailable, and the cache's reason if it was read.
  public var description: String {
    let reason = "\(remote)"
    if cache == .notAsked { return reason }
    return "\(reason)\(reason.last.map(".?!".contains) == true ? "" : ".") \(cache)"
  }

  public var errorDescription: String? { description }
}
