/// One entry of a feed.
public struct FeedItem: Hashable, Sendable {
  /// The item's permanent identity: RSS's `guid`, Atom's `id`, RDF's `about`, JSON's `id`.
  public var guid: String?
  public var title: FeedText?
  /// Short text: RSS's `description`, Atom's and JSON Feed's `summary`.
  public var summary: FeedText?
  /// The full text: `content:encoded`, Atom's `content`, JSON Feed's `content_html` or `content_text`.
  public var content: FeedText?
  /// `media:description`.
  public var mediaDescription: FeedText?
  /// The URL of the item's page.
  public var link: String?
  public var published: FeedDate?
  public var updated: FeedDate?
  public var location: FeedPlace?
  /// Every image that the item refers to, in document order; each URL occurs once per source.
  public var images: [FeedImageCandidate]
  /// The index in ``images`` of the image to show.
  public var chosenImage: Int?

  public init() { images = [] }

  /// The image to show.
  public var image: FeedImageCandidate? { chosenImage.map { images[$0] } }

}

/// Text, either plain or HTML.
public struct FeedText: Hashable, Sendable {
  /// The unchanged text.
  public var value: String
  /// True for HTML, false for plain text.
  public var isMarkup: Bool

  public init(_ value: String, isMarkup: Bool) {
    self.value = value
    self.isMarkup = isMarkup
  }

  /// The text on one line: without tags, escapes and control characters.
  public var plain: String { isMarkup ? plainText(ofHTML: value) : plainLine(value) }
}

/// The geographic location of an item.
public struct FeedPlace: Hashable, Sendable {
  /// `georss:featurename`.
  public var name: String?
  /// Latitude and longitude in degrees, as written, separated by one space.
  public var point: String?

  public init(name: String? = nil, point: String? = nil) {
    self.name = name
    self.point = point
  }

  /// The name, or else the coordinates.
  public var text: String? { name ?? point }
}
