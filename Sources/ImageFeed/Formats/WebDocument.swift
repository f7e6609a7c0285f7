public import Foundation

/// What a server sent with status 200.
public struct WebDocument: Hashable, Sendable {
  /// The body, decompressed.
  public var body: Data
  /// The value of `Content-Type`, as it came.
  public var type: String?
  /// Where it came from, redirects followed: what its relative addresses are relative to.
  public var url: URL
  /// What the server can tell by whether it has changed since.
  public var validators: FeedValidators

  public init(body: Data, type: String? = nil, url: URL, validators: FeedValidators = FeedValidators()) {
    self.body = body
    self.type = type
    self.url = url
    self.validators = validators
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
