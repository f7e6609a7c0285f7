/// An image that an item refers to, and its place in the document.
public struct FeedImageCandidate: Hashable, Sendable {
  /// The places where an item can refer to an image, in order of preference. The raw value is the name in the document.
  public enum Source: String, Hashable, Sendable, CaseIterable {
    case mediaContent = "media:content"
    /// RSS's `enclosure`, Atom's `link rel=enclosure`, JSON Feed's attachments.
    case enclosure
    /// The `image` of JSON Feed and of Essential Feed JSON, and an item's own `<image>` in RSS.
    case image
    case bannerImage = "banner_image"
    case mediaThumbnail = "media:thumbnail"
    case itunesImage = "itunes:image"
    case content
    case summary
  }

  /// An absolute http or https URL.
  public var address: String
  public var source: Source
  /// The size in pixels, according to the document.
  public var width: Int?
  public var height: Int?
  /// The media type, according to the document.
  public var type: String?
  /// The `isDefault` attribute of Media RSS.
  public var isDefault: Bool
  /// The alternative text: the `alt` or `title` attribute of HTML's `<img>`; the `title` of a JSON Feed attachment; or,
  /// if an item has several images, the `media:description` of each image.
  public var alt: String?
  /// The number, within the item, of the `media:group` that contains the image. All contents of a group represent one
  /// image.
  public var group: Int?

  public init(
    address: String, source: Source, width: Int? = nil, height: Int? = nil, type: String? = nil,
    isDefault: Bool = false,
    alt: String? = nil, group: Int? = nil
  ) {
    self.address = address
    self.source = source
    self.width = width
    self.height = height
    self.type = type
    self.isDefault = isDefault
    self.alt = alt
    self.group = group
  }
}

extension FeedItem {
  /// Chooses an image from the first source that has one, in the order of ``FeedImageCandidate/Source``: the default
  /// `media:content`, or else the widest; the widest `media:thumbnail`; or the first image from any other source.
  mutating func chooseImage() {
    chosenImage = images.indices.min { first, second in
      let (one, other) = (images[first], images[second])
      if one.source != other.source { return one.source.rank < other.source.rank }
      if one.source == .mediaContent, one.isDefault != other.isDefault { return one.isDefault }
      if one.source == .mediaContent || one.source == .mediaThumbnail, one.width != other.width {
        return (one.width ?? 0) > (other.width ?? 0)
      }
      return first < second
    }
  }
}

extension FeedImageCandidate.Source {
  fileprivate var rank: Int {
    switch self {
    case .mediaContent: 0
    case .enclosure: 1
    case .image: 2
    case .bannerImage: 3
    case .mediaThumbnail: 4
    case .itunesImage: 5
    case .content: 6
    case .summary: 7
    }
  }
}
