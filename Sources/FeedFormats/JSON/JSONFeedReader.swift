/// Reads JSON Feed 1 and 1.1 (jsonfeed.org): skips values of the wrong type, and items that are not objects.
struct JSONFeedReader: JSONReading {
  private let address: String?
  let limits: FeedLimits
  var repairs: Repairs = []
  private(set) var base: String?

  init(address: String?, limits: FeedLimits) {
    self.address = baseAddress(address)
    base = self.address
    self.limits = limits
  }

  /// True for a document with JSON Feed's version, or a document without a version but with fields that only a JSON
  /// Feed has.
  static func recognizes(_ root: JSONValue) -> Bool {
    guard root.kind == .object else { return false }
    if let version = root["version"]?.bytes, version.firstRange(of: "jsonfeed.org") != nil { return true }
    guard let items = root["items"]?.elements else { return false }
    let names: [StaticString] = ["home_page_url", "feed_url"]
    if names.contains(where: { root[$0]?.kind == .string }) { return true }
    let ofItems: [StaticString] = ["content_html", "content_text", "date_published"]
    for item in items.prefix(1) where item["id"] != nil {
      return ofItems.contains { item[$0]?.kind == .string }
    }
    return false
  }

  mutating func read(_ root: JSONValue) throws(FeedFormatError) -> FeedDocument {
    guard let value = root["items"] else { throw .wrongShape(at: "", "\"items\" is missing") }
    guard let items = value.elements else { throw .wrongShape(at: "items", "it is not an array") }
    var document = FeedDocument(format: format(of: root))
    document.title = try string(root["title"]).map { FeedText($0, isMarkup: false) }
    base = address ?? baseAddress(url(root["feed_url"])) ?? baseAddress(url(root["home_page_url"]))
    document.link = url(root["home_page_url"])
    document.next = url(root["next_url"])
    document.hubs = (root["hubs"]?.elements).map { hubs in hubs.prefix(16).compactMap { url($0["url"]) } } ?? []
    document.noteHub(topic: url(root["feed_url"]))
    try readItems(items, into: &document) { reader, value throws(FeedFormatError) in
      try reader.item(value)
    }
    document.repairs = repairs.sentences
    return document
  }

  private mutating func format(of root: JSONValue) -> FeedKind {
    guard let version = root["version"]?.bytes else {
      repairs.insert(.jsonVersion)
      return .jsonFeed11
    }
    return version.firstRange(of: "version/1.1") != nil ? .jsonFeed11 : .jsonFeed1
  }

  private mutating func item(_ value: JSONValue) throws(FeedFormatError) -> FeedItem {
    var item = FeedItem()
    if let id = value["id"], id.kind != .null {
      item.guid = try stringOrNumber(id)
      if id.kind != .string { repairs.insert(.jsonShape) }
    }
    item.title = try string(value["title"]).map { FeedText($0, isMarkup: false) }
    item.summary = try string(value["summary"]).map { FeedText($0, isMarkup: false) }
    if let html = try string(value["content_html"]) {
      item.content = FeedText(html, isMarkup: true)
    } else {
      item.content = try string(value["content_text"]).map { FeedText($0, isMarkup: false) }
    }
    item.link =
      url(value["url"]) ?? url(value["external_url"])
      ?? item.guid.flatMap { $0.withBytes { absoluteAddress($0, base: nil) } }
    item.published = value["date_published"]?.bytes.flatMap { FeedDate(parsing: $0) }
    item.updated = value["date_modified"]?.bytes.flatMap { FeedDate(parsing: $0) }
    try noteImages(of: value, in: &item)
    return item
  }

  private mutating func noteImages(of value: JSONValue, in item: inout FeedItem) throws(FeedFormatError) {
    for attachment in value["attachments"]?.elements.map(Array.init) ?? [] {
      guard let address = attachment["url"]?.bytes,
        isImage(type: attachment["mime_type"]?.bytes, medium: nil, address: address)
      else { continue }
      note(
        address, from: .enclosure, base: base, type: try string(attachment["mime_type"]),
        alt: try string(attachment["title"]).map(plainLine), in: &item)
    }
    if let image = bytes(value["image"]) { note(image, from: .image, base: base, in: &item) }
    if let image = bytes(value["banner_image"]) { note(image, from: .bannerImage, base: base, in: &item) }
    noteImages(of: item.content, from: .content, in: &item)
    item.chooseImage()
  }
}
