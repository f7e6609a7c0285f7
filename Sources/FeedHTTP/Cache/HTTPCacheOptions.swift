public import Foundation

/// Options of a private HTTP cache where its rules leave a choice, and where it reports to.
public struct HTTPCacheOptions {
  /// True when a stale response may be used because no server can be reached, unless the response forbids it (RFC 9111,
  /// section 4.2.4). True by default.
  public var usesStaleWhenDisconnected = true
  /// The number of redirects that are followed for one request; each hop's answer is stored on its own. 10 by default.
  public var maxRedirects = 10
  /// Called with each decision.
  public var report: (HTTPCacheEvent) -> Void = { _ in }

  public init() {}
}

/// A decision of a private HTTP cache, with the address that it is about.
public struct HTTPCacheEvent: Sendable, Hashable, CustomStringConvertible {
  public enum Kind: Sendable, Hashable {
    /// Nothing usable is stored.
    case missed
    /// The request says that the cache has no part in it.
    case bypassed
    /// A stored response is used without asking.
    case fresh(age: Duration, lifetime: Duration)
    /// A stale response is used, because the request allows it, or while it is revalidated.
    case stale(age: Duration, lifetime: Duration, isRevalidated: Bool)
    /// The server is asked whether a stored response is still right.
    case validating
    /// The server said that it is.
    case validated
    /// A stale response is used because its server has failed.
    case staleAfterFailure(String)
    /// The server has failed, and what is stored must not be used without it: the response is status 504.
    case unusable(String)
    /// The response of another request in flight is used.
    case shared
    /// A response is stored.
    case stored
    /// A response must not be stored.
    case notStored
    /// Nothing usable is stored, and nobody may be asked.
    case onlyIfCached
    /// The store has failed.
    case storeFailed(HTTPCacheError)
  }

  public var kind: Kind
  public var url: URL

  /// A short sentence, without the address.
  public var description: String {
    switch kind {
    case .missed: "not stored; asking the server"
    case .bypassed: "not for the cache; asking the server"
    case .fresh(let age, let lifetime): "stored and fresh: \(Self.seconds(age)) old of \(Self.seconds(lifetime))"
    case .stale(let age, let lifetime, let isRevalidated):
      "stored and stale: \(Self.seconds(age)) old of \(Self.seconds(lifetime)), "
        + (isRevalidated ? "used while it is revalidated" : "which the request allows")
    case .validating: "stored; asking the server if it has changed"
    case .validated: "it has not changed"
    case .staleAfterFailure(let cause): "stored and stale, used because the server failed: \(cause)"
    case .unusable(let cause): "stored and stale, and not to be used though the server failed: \(cause)"
    case .shared: "the answer to a request in flight is used"
    case .stored: "the answer is stored"
    case .notStored: "the answer is not stored"
    case .onlyIfCached: "not stored, and only what is stored was asked for"
    case .storeFailed(let error): "the cache failed: \(error)"
    }
  }

  private static func seconds(_ duration: Duration) -> String { "\(duration.components.seconds) s" }
}
