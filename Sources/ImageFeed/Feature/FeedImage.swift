public import Foundation

/// One image of a feed, as its server described it.
public struct FeedImage: Hashable, Sendable, Identifiable {
  /// What names the image for good.
  public let id: ID
  /// What the image shows, in the server's words. Untrusted text: see `String.printable`.
  public let description: String?
  /// Where it was taken, in the server's words. Untrusted text.
  public let location: String?
  /// Where the picture itself can be downloaded: an absolute http or https address.
  ///
  /// Made of its text each time: keep it in a variable where it is used more than once.
  public var url: URL { address.url }
  let address: WebAddress
  /// ``url``'s text, which costs no parsing.
  package var addressText: String { address.text }

  /// Describes an image.
  public init(id: ID, description: String? = nil, location: String? = nil, url: URL) {
    self.init(id: id, description: description, location: location, address: WebAddress(url))
  }

  /// Describes an image that a UUID names.
  public init(id: UUID, description: String? = nil, location: String? = nil, url: URL) {
    self.init(id: ID(id), description: description, location: location, url: url)
  }

  init(id: ID, description: String?, location: String?, address: WebAddress) {
    self.id = id
    self.description = description
    self.location = location
    self.address = address
  }
}
