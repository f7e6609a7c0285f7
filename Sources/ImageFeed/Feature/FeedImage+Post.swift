import FeedFormats
public import Foundation

extension FeedImage {
  /// The fields of a feed's item other than its image. All text is untrusted: see `String.printable`.
  public struct Post: Hashable, Sendable {
    /// The item's title, on one line.
    public var title: String?
    /// The beginning of the item's text, on one line. ``SyndicationFormat`` reads at most 1,000 characters.
    public var text: String?
    /// The alternative text of the image, on one line.
    public var alt: String?
    /// All images of the item, including the one that is shown; empty if that is the only one.
    public var images: [Image]
    /// The URL of the item's page: absolute, http or https. The URL is parsed on each access.
    public var link: URL? { linkText.flatMap { URL(string: $0) } }
    /// The text of ``link``, unparsed.
    package let linkText: String?

    /// One of several images.
    public struct Image: Hashable, Sendable {
      /// The image's absolute URL, as text.
      public var url: String
      /// The image's alternative text.
      public var alt: String?

      public init(url: String, alt: String? = nil) {
        self.url = url
        self.alt = alt
      }
    }

    /// Describes an item.
    ///
    /// - Parameter link: ignored unless it is an absolute http or https URL.
    public init(
      title: String? = nil, text: String? = nil, alt: String? = nil, link: URL? = nil, images: [Image] = []
    ) {
      let isOfWeb = ["http", "https"].contains(link?.scheme?.lowercased())
      self.init(
        title: title, text: text, alt: alt, linkText: isOfWeb ? link?.absoluteString : nil, images: images)
    }

    init(title: String?, text: String?, alt: String?, linkText: String?, images: [Image]) {
      self.title = title
      self.text = text
      self.alt = alt
      self.linkText = linkText
      self.images = images
    }
  }

  /// The item's title.
  public var title: String? { post.title }
  /// The URL of the item's page.
  public var link: URL? { post.link }
  /// The beginning of the item's text.
  public var text: String? { post.text }
  /// The alternative text of the image.
  public var alt: String? { post.alt }

  /// The text to show with the image: the title, else the description, else the text, else the alternative text.
  public var caption: String? {
    [post.title, description, post.text, post.alt].lazy.compactMap { $0 }.first(where: \.hasVisibleCharacter)
  }

  /// The images of the item: those in ``Post/images``, or this image if there are none.
  public var images: [Post.Image] {
    post.images.isEmpty ? [Post.Image(url: addressText, alt: post.alt)] : post.images
  }
}
