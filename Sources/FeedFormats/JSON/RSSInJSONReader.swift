/// Reads RSS in JSON: the elements of RSS 2.0 as the members of an object (`{"rss": {"channel": {"item": [{…}]}}}`).
///
/// An element with attributes is an object with a member for each attribute; the element's text, if any, is the
/// `#value` member. Source: <https://github.com/scripting/Scripting-News/blob/master/rss-in-json/README.md>.
struct RSSInJSONReader: JSONReading {
  let limits: FeedLimits
  var repairs: Repairs = []
  var base: String?

  init(address: String?, limits: FeedLimits) {
    base = baseAddress(address)
    self.limits = limits
  }

  static func recognizes(_ root: JSONValue) -> Bool { root["rss"]?["channel"]?.kind == .object }

  mutating func read(_ root: JSONValue) throws(FeedFormatError) -> FeedDocument {
    var document = FeedDocument(format: .rssJSON)
    guard let channel = root["rss"]?["channel"] else { return document }
    document.title = try text(channel["title"])
    document.link = Self.content(channel["link"])?.bytes.flatMap { absoluteAddress($0, base: base) }
    base = base ?? baseAddress(document.link)
    document.polling.minutesToLive = Self.number(Self.content(channel["ttl"]))
    try readItems(Self.several(channel["item"]), into: &document) { reader, value throws(FeedFormatError) in
      try reader.item(value)
    }
    document.repairs = repairs.sentences
    return document
  }

  private mutating func item(_ value: JSONValue) throws(FeedFormatError) -> FeedItem {
    var item = FeedItem()
    item.title = try text(value["title"])
    item.summary = try text(value["description"])
    item.content = try text(value["content:encoded"])
    let guid = value["guid"]
    item.guid = try stringOrNumber(Self.content(guid))
    item.link = url(Self.content(value["link"]))
    let isPermaLink = guid?["isPermaLink"]
    if item.link == nil, isPermaLink?.bytes?.equals("false") != true, isPermaLink?.kind != .no {
      item.link = item.guid?.withBytes { absoluteAddress($0, base: nil) }
    }
    item.published = Self.content(value["pubDate"])?.bytes.flatMap { FeedDate(parsing: $0) }
    try noteMedia(value["media:content"], from: .mediaContent, in: &item)
    try noteMedia(value["media:group"]?["media:content"], from: .mediaContent, in: &item)
    try noteMedia(value["enclosure"], from: .enclosure, in: &item)
    try noteMedia(value["media:thumbnail"], from: .mediaThumbnail, in: &item)
    try noteMedia(value["itunes:image"], from: .itunesImage, in: &item)
    noteImages(of: item.content, from: .content, in: &item)
    noteImages(of: item.summary, from: .summary, in: &item)
    item.chooseImage()
    return item
  }

  private mutating func noteMedia(
    _ value: JSONValue?, from source: FeedImageCandidate.Source, in item: inout FeedItem
  ) throws(FeedFormatError) {
    for media in Self.several(value) {
      guard let address = (media["url"] ?? media["href"])?.bytes else { continue }
      let type = media["type"]
      if source == .mediaContent || source == .enclosure,
        !isImage(type: type?.bytes, medium: media["medium"]?.bytes, address: address)
      {
        continue
      }
      let size = (Self.number(media["width"]), Self.number(media["height"]))
      note(address, from: source, base: base, size: size, type: try string(type), in: &item)
    }
  }

  private mutating func text(_ value: JSONValue?) throws(FeedFormatError) -> FeedText? {
    try string(Self.content(value)).map { FeedText($0, isMarkup: true) }
  }

  /// The text of an element, which is an object if the element also has attributes.
  private static func content(_ value: JSONValue?) -> JSONValue? { value?["#value"] ?? value }

  /// The values of an array; any other value counts as an array with that one element.
  private static func several(_ value: JSONValue?) -> [JSONValue] {
    guard let value, value.kind != .null else { return [] }
    return value.elements.map(Array.init) ?? [value]
  }

  /// A number of at most nine digits, as in XML.
  private static func number(_ value: JSONValue?) -> Int? {
    value.flatMap { $0.integer ?? $0.bytes?.integer }.flatMap { 0..<1_000_000_000 ~= $0 ? $0 : nil }
  }
}
