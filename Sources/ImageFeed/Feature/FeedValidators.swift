/// What a server said by which it can tell whether a feed has changed since (RFC 9110, section 8.8): kept and sent back
/// as it came, to the byte.
public struct FeedValidators: Hashable, Sendable {
  /// The value of the field `ETag`.
  public var etag: String?
  /// The value of the field `Last-Modified`.
  public var lastModified: String?

  public init(etag: String? = nil, lastModified: String? = nil) {
    self.etag = etag
    self.lastModified = lastModified
  }

  /// True when the server gave none.
  public var isEmpty: Bool { etag == nil && lastModified == nil }
}
