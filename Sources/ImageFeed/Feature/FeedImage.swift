public import Foundation

/// One image of a feed, as its server described it.
public struct FeedImage: Hashable, Sendable, Identifiable {
  /// The image's permanent identity.
  public let id: ID
  /// A description of the image, in the server's words. Untrusted text: see `String.printable`.
  public let description: String?
  /// The place where the image was taken, in the server's words. Untrusted text.
  public let location: String?
  /// The URL of the image itself: absolute, http or https.
  ///
  /// It is parsed on each access: keep it in a variable if you use it more than once.
  public var url: URL { address.url }
  /// The time when the item was published (or last changed, if its server gives no other date), to the second.
  public var published: Date? { publishedSeconds.map { Date(timeIntervalSince1970: Double($0)) } }
  /// The item that the image belongs to: its title, its text, the URL of its page, and its other images.
  public let post: Post
  let address: WebAddress
  /// ``published``, in seconds since 1970.
  package let publishedSeconds: Int64?
  /// The text of ``url``, unparsed.
  package var addressText: String { address.text }

  /// Describes an image.
  public init(
    id: ID, description: String? = nil, location: String? = nil, url: URL, published: Date? = nil,
    post: Post = Post()
  ) {
    let seconds = published.map { Int64($0.timeIntervalSince1970.rounded(.down)) }
    self.init(
      id: id, description: description, location: location, address: WebAddress(url), published: seconds,
      post: post)
  }

  /// Describes an image that is identified by a UUID.
  public init(
    id: UUID, description: String? = nil, location: String? = nil, url: URL, published: Date? = nil,
    post: Post = Post()
  ) {
    self.init(
      id: ID(id), description: description, location: location, url: url, published: published, post: post)
  }

  init(
    id: ID, description: String?, location: String?, address: WebAddress, published: Int64? = nil, post: Post = Post()
  ) {
    self.id = id
    self.description = description
    self.location = location
    self.address = address
    publishedSeconds = published
    self.post = post
  }
}
