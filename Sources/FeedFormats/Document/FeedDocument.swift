/// The content of a feed's document, in a form that is the same for every format.
///
/// Text is unchanged, except that XML's entities and JSON's escapes are resolved; URLs are absolute, http or https. A
/// missing field is `nil`.
public struct FeedDocument: Hashable, Sendable {
  public var format: FeedKind
  /// The encoding of the bytes, by its usual name: `UTF-8`, `windows-1252`.
  public var encoding: String
  public var title: FeedText?
  /// The URL of the site.
  public var link: String?
  public var items: [FeedItem]
  /// The URL of the next page (Atom's `rel=next`, RFC 5005; JSON Feed's `next_url`).
  public var next: String?
  /// The URLs of the hubs that notify subscribers of changes (WebSub).
  public var hubs: [String]
  public var polling: PollingHints
  /// The repairs, as sentences without a period, each only once.
  public var repairs: [String]
  /// True when the document's end is missing: only the items that arrived are here, and the last of them may lack some
  /// fields.
  public var isCutOff = false

  public init(
    format: FeedKind, encoding: String = "UTF-8", title: FeedText? = nil, link: String? = nil, items: [FeedItem] = [],
    next: String? = nil, hubs: [String] = [], polling: PollingHints = PollingHints(), repairs: [String] = []
  ) {
    self.format = format
    self.encoding = encoding
    self.title = title
    self.link = link
    self.items = items
    self.next = next
    self.hubs = hubs
    self.polling = polling
    self.repairs = repairs
  }
}

/// The formats that ``FeedParser`` reads. The raw value is the format's name.
public enum FeedKind: String, Hashable, Sendable, CaseIterable {
  case rss090 = "RSS 0.90"
  case rss091 = "RSS 0.91"
  case rss092 = "RSS 0.92"
  case rss093 = "RSS 0.93"
  case rss094 = "RSS 0.94"
  case rss10 = "RSS 1.0"
  case rss20 = "RSS 2.0"
  /// RSS without a version.
  case rss = "RSS"
  case atom03 = "Atom 0.3"
  case atom10 = "Atom 1.0"
  /// Microsoft's Channel Definition Format.
  case cdf = "CDF"
  case rssJSON = "RSS in JSON"
  case jsonFeed1 = "JSON Feed 1"
  case jsonFeed11 = "JSON Feed 1.1"
  /// `{"items": [{"id", "description"?, "location"?, "image"}]}`.
  case caseStudy = "Essential Feed"
}

/// A feed's hints about when it should be loaded again.
public struct PollingHints: Hashable, Sendable, Codable {
  /// RSS's `ttl`, in minutes.
  public var minutesToLive: Int?
  /// `sy:updatePeriod` divided by `sy:updateFrequency`, in seconds.
  public var updateInterval: Int?
  /// The hours, 0 to 23 in GMT, at which nothing changes, each once.
  public var skippedHours: [Int] = []
  /// The days on which nothing changes: their English names, spelled as in the document, each once.
  public var skippedDays: [String] = []
  /// The URL of the first hub that notifies subscribers of changes (WebSub), and the feed's own URL there.
  public var hub: String?
  public var topic: String?

  /// The maximum size of the URL of a hub or topic: 2,000 bytes. Longer ones are left out, because the hints are saved
  /// at each poll.
  package static let longestAddress = 2_000

  public init() {}
}

extension FeedDocument {
  /// Takes the hub from the document's first one.
  ///
  /// - Parameter topic: the feed's URL at its hub.
  mutating func noteHub(topic: String?) {
    func short(_ address: String?) -> String? {
      address.flatMap { $0.utf8.count <= PollingHints.longestAddress ? $0 : nil }
    }
    guard let hub = short(hubs.first) else { return }
    (polling.hub, polling.topic) = (hub, short(topic))
  }
}
