/// What the text of an element is for.
enum FeedField {
  case title, otherTitle, mediaTitle
  case summary, otherSummary, content, body, mediaDescription
  case link, guid, imageAddress
  case published, issued, updated
  case point, latitude, longitude, featureName
  case ttl, updatePeriod, updateFrequency, skippedHour, skippedDay

  /// True when the text has no elements in it, unless they are XHTML by declaration.
  var isShort: Bool {
    switch self {
    case .summary, .otherSummary, .content, .body, .mediaDescription: false
    default: true
    }
  }
}

/// How a text is written.
enum TextKind {
  /// Plain text.
  case plain
  /// HTML as text.
  case html
  /// Elements of XHTML.
  case xhtml
  /// In base 64 (Atom 0.3); what it holds is HTML.
  case base64
}

/// An item while its elements arrive.
struct ItemDraft {
  var item = FeedItem()
  var about: String?
  var guid: String?
  var guidIsAddress = false
  var link: String?
  /// True when ``link`` is the item's page for sure, and no other link of it.
  var linkIsAlternate = false
  var title: FeedText?
  var otherTitle: FeedText?
  var mediaTitle: FeedText?
  var summary: FeedText?
  var otherSummary: FeedText?
  var content: FeedText?
  var body: FeedText?
  var published: FeedDate?
  var issued: FeedDate?
  /// The `xml:base` where the text stands; `nil` without one.
  var contentBase: String?
  var summaryBase: String?
  var latitude: String?
  var longitude: String?
}
