import FeedFormats
public import Foundation

/// A response with status 200.
public struct WebDocument: Hashable, Sendable {
  /// The body, decompressed.
  public var body: Data
  /// The value of `Content-Type`, unchanged.
  public var type: String?
  /// The document's URL after redirects, which is the base of its relative URLs.
  public var url: URL
  /// The validators by which the server can tell whether the document has changed.
  public var validators: FeedValidators
  /// The URL under which the feed is saved, which identifies its images; `nil` if that URL is ``url``.
  public var feed: URL?
  /// See ``ArrivingDocument/isFromPrivateNetwork``.
  package var isFromPrivateNetwork: Bool?

  public init(body: Data, type: String? = nil, url: URL, validators: FeedValidators = FeedValidators()) {
    self.body = body
    self.type = type
    self.url = url
    self.validators = validators
  }

  /// True when a JSON object or array begins at the first byte that isn't whitespace, a byte order mark, or a zero
  /// byte of UTF-16.
  var isJSON: Bool {
    let first = body.prefix(1024).firstVisible
    return first == UInt8(ascii: "{") || first == UInt8(ascii: "[")
  }

  /// True for a JSON object whose first key is `rss`.
  var beginsAsRSS: Bool {
    let visible = body.prefix(1024).lazy.filter { $0 > 0x20 && $0 < 0x7F }
    return visible.starts(with: "{\"rss\":".utf8)
  }

  /// The charset that ``type`` names.
  var charset: String? {
    for parameter in type?.split(separator: ";").dropFirst() ?? [] {
      let parts = parameter.split(separator: "=", maxSplits: 1).map { $0.trimmingCharacters(in: .whitespaces) }
      guard parts.count == 2, parts[0].lowercased() == "charset" else { continue }
      return parts[1].trimmingCharacters(in: CharacterSet(charactersIn: "\"'"))
    }
    return nil
  }
}
