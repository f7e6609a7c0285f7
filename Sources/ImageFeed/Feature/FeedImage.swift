public import Foundation

/// One image of a feed, as its server described it.
public struct FeedImage: Hashable, Sendable, Identifiable {
  /// The image's permanent identity.
  public let id: ID
  /// A description of the image, in the server's words. Untrusted text: see `String.printable`.
  public let description: String?
  /// The place where it was taken, in the server's words. Untrusted text.
  public let location: String?
  /// The address of the picture itself: absolute, http or https.
  ///
  /// It is parsed each time: keep it in a variable if you use it more than once.
  public var url: URL { address.url }
  let address: WebAddress
  /// ``url``'s text, without parsing.
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
