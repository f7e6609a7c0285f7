public import Foundation

/// Options for a private HTTP cache: reports, and choices that the rules leave open.
public struct HTTPCacheOptions {
  /// True to use a stale response when no server can be reached, unless the response forbids it (RFC 9111, section
  /// 4.2.4). True by default.
  public var usesStaleWhenDisconnected = true
  /// The maximum number of redirects to follow per request; each hop's response is stored separately. 10 by default.
  public var maxRedirects = 10
  /// Called with each decision.
  public var report: (HTTPCacheEvent) -> Void = { _ in }

  public init() {}
}

/// A decision of a private HTTP cache, and the URL that it concerns.
public struct HTTPCacheEvent: Sendable, Hashable, CustomStringConvertible {
  public enum Kind: Sendable, Hashable {
    /// Nothing usable is stored.
    case missed
    /// The request bypasses the cache.
    case bypassed
    /// A stored response is used without a request.
    case fresh(age: Duration, lifetime: Duration)
    /// A stale response is used, because the request allows it, or while it is revalidated.
    case stale(age: Duration, lifetime: Duration, isRevalidated: Bool)
    /// A stored response is being validated by the server.
    case validating
    /// The server has validated the stored response.
    case validated
    /// A stale response is used because the server has failed.
    case staleAfterFailure(String)
    /// The server has failed, and the stored response must not be used while it is stale: the client gets status 504.
    case unusable(String)
    /// The response to another request in flight is used.
    case shared
    /// A response is stored.
    case stored
    /// A response must not be stored.
    case notStored
    /// Nothing usable is stored, and no request may be made.
    case onlyIfCached
    /// The store has failed.
    case storeFailed(HTTPCacheError)
  }

  public var kind: Kind
  public var url: URL

  /// A short sentence, without the URL.
  public var description: String {
    switch kind {
    case .missed: "nothing usable is stored; sending the request"
    case .bypassed: "not cacheable; sending the request"
    case .fresh(let age, let lifetime): "stored and fresh: age \(Self.seconds(age)), lifetime \(Self.seconds(lifetime))"
    case .stale(let age, let lifetime, let isRevalidated):
      "stored and stale: age \(Self.seconds(age)), lifetime \(Self.seconds(lifetime)); "
        + (isRevalidated ? "used while it is being revalidated" : "used because the request allows it")
    case .validating: "stored; revalidating the response"
    case .validated: "not changed"
    case .staleAfterFailure(let cause): "stored and stale; used because the server failed: \(cause)"
    case .unusable(let cause): "stored and stale, and must not be used even though the server failed: \(cause)"
    case .shared: "using the response to a request in flight"
    case .stored: "the response is stored"
    case .notStored: "the response is not stored"
    case .onlyIfCached: "nothing usable is stored, and only a stored response was requested (only-if-cached)"
    case .storeFailed(let error): "the cache failed: \(error)"
    }
  }

  private static func seconds(_ duration: Duration) -> String { "\(duration.components.seconds) s" }
}
