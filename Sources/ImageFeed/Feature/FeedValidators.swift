public import Foundation

/// The validators that tell a server which version of a feed is saved.
///
/// The two HTTP fields (RFC 9110, section 8.8) are kept and sent back byte for byte.
public struct FeedValidators: Hashable, Sendable {
  /// The value of the `ETag` field.
  public var etag: String?
  /// The value of the `Last-Modified` field.
  public var lastModified: String?
  /// The URL of the response with these fields, if it differs from the feed's own URL because a web page led to it.
  public var source: URL?
  /// The digest of the body's bytes, to recognize the same bytes when they are sent again.
  public var digest: BodyDigest?
  /// The time of the last unconditional request.
  public var wholeAsked: Date?

  public init(
    etag: String? = nil, lastModified: String? = nil, source: URL? = nil, digest: BodyDigest? = nil,
    wholeAsked: Date? = nil
  ) {
    self.etag = etag
    self.lastModified = lastModified
    self.source = source
    self.digest = digest
    self.wholeAsked = wholeAsked
  }

  /// True if there is neither an `ETag` nor a `Last-Modified`.
  public var isEmpty: Bool { etag == nil && lastModified == nil }

  /// The time for which a server's statement that nothing has changed is trusted: eight days. Some servers repeat it
  /// forever.
  public static let longestTrust = Duration.seconds(8 * 86_400)

  /// These validators, unless it is time to request the whole feed again: after ``longestTrust``, or if the time of the
  /// last unconditional request is unknown or in the future. In that case, the result is empty.
  public func trusted(at now: Date) -> FeedValidators {
    guard let wholeAsked else { return FeedValidators() }
    return FeedCachePolicy(maxAge: Self.longestTrust).isValid(wholeAsked, now: now) ? self : FeedValidators()
  }

  /// True if both have the same two HTTP fields, from the same URL.
  func matches(_ other: FeedValidators) -> Bool {
    etag == other.etag && lastModified == other.lastModified && source == other.source
  }

  /// These validators, updated from a response that says that nothing has changed.
  ///
  /// A response without a body (status 304) keeps the validators that it doesn't include; a response with the same
  /// bytes as before replaces all of them.
  package func updated(by news: FeedValidators) -> FeedValidators {
    guard news.digest == nil else { return news }
    var updated = self
    updated.etag = news.etag ?? etag
    updated.lastModified = news.lastModified ?? lastModified
    return updated
  }
}

extension FeedValidators {
  /// The fields of a conditional request, whose response has a body only if something has changed (RFC 9110, section
  /// 13.1).
  var conditions: [HTTPRequest.Header] {
    var fields: [HTTPRequest.Header] = []
    if let etag { fields.append(.init(name: "If-None-Match", value: etag)) }
    if let lastModified { fields.append(.init(name: "If-Modified-Since", value: lastModified)) }
    return fields
  }

  /// The validators of a response, without those that can't be sent back unchanged: a validator must be nonempty, at
  /// most 4 KiB long, without control characters, and valid UTF-8.
  package init(_ headers: HTTPHeaders) {
    self.init(etag: headers["ETag"]?.asValidator, lastModified: headers["Last-Modified"]?.asValidator)
  }
}
