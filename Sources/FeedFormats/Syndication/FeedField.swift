/// The purpose of an element's text.
enum FeedField {
  case title, otherTitle, mediaTitle
  case summary, otherSummary, content, body, mediaDescription
  case link, guid, imageAddress
  case published, issued, updated
  case point, latitude, longitude, featureName
  case ttl, updatePeriod, updateFrequency, skippedHour, skippedDay

  /// True when the text contains no elements, unless they are declared as XHTML.
  var isShort: Bool {
    switch self {
    case .summary, .otherSummary, .content, .body, .mediaDescription: false
    default: true
    }
  }
}

/// The notation of text.
enum TextKind {
  /// Plain text.
  case plain
  /// Escaped HTML.
  case html
  /// XHTML elements.
  case xhtml
  /// HTML in base 64 (Atom 0.3).
  case base64
}

/// An item while its elements arrive.
struct ItemDraft {
  var item = FeedItem()
  var about: String?
  var guid: String?
  var guidIsAddress = false
  var link: String?
  /// True if ``link`` is certainly the item's page, not another link.
  var linkIsAlternate = false
  /// True if ``link`` is the item in another form than a web page.
  var linkIsOfOtherType = false
  var title: FeedText?
  var otherTitle: FeedText?
  var mediaTitle: FeedText?
  var summary: FeedText?
  var otherSummary: FeedText?
  var content: FeedText?
  var body: FeedText?
  var published: FeedDate?
  var issued: FeedDate?
  /// The `xml:base` of the text; `nil` if there is none.
  var contentBase: String?
  var summaryBase: String?
  var latitude: String?
  var longitude: String?
  /// The `media:description` of a `media:content`, and the position of its image among the item's images.
  var imageDescriptions: [(image: Int, text: FeedText)] = []
  /// The number of `media:group` elements so far.
  var mediaGroups = 0
}
