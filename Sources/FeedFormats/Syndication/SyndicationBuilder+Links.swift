extension SyndicationBuilder {
  /// True for a link whose URL is an attribute, as in Atom; the namespace doesn't matter.
  func isAtomLink(_ element: Element, _ tag: borrowing XMLTag) -> Bool {
    element.namespace == .atom || element.namespace == .atom03 || tag.rawValue("href") != nil
  }

  func resolved(_ tag: borrowing XMLTag) -> String? {
    tag.value("href")?.withBytes { absoluteAddress($0, base: base) }
  }

  mutating func noteFeedLink(_ tag: borrowing XMLTag) {
    guard let address = resolved(tag) else { return }
    switch Self.relation(of: tag) {
    case "self": selfLink = selfLink ?? address
    case "alternate":
      noteSite(address, isBest: Self.isOfPage(tag) && (document.format == .atom10 || document.format == .atom03))
    case "next": document.next = document.next ?? address
    case "hub": if !document.hubs.contains(address), document.hubs.count < 16 { document.hubs.append(address) }
    default: break
    }
  }

  /// The link's relation; `alternate` if it has none (RFC 4287, 4.2.7.2). The registry's URL before a name is ignored.
  private static func relation(of tag: borrowing XMLTag) -> String {
    let relation = tag.value("rel")?.lowercased() ?? ""
    let registry = "http://www.iana.org/assignments/relation/"
    if relation.hasPrefix(registry) { return String(relation.dropFirst(registry.count)) }
    return relation.isEmpty ? "alternate" : relation
  }

  /// False for a link to something other than a web page, according to its type.
  private static func isOfPage(_ tag: borrowing XMLTag) -> Bool {
    guard let type = tag.rawValue("type")?.trimmed, type.count > 0 else { return true }
    return type.startsIgnoringCase(with: "text/html") || type.startsIgnoringCase(with: "application/xhtml+xml")
  }

  mutating func noteSite(_ address: String?, isBest: Bool) {
    guard let address, siteLink == nil || isBest && siteLink?.isBest == false else { return }
    siteLink = (address, isBest)
  }

  mutating func noteItemLink(_ tag: borrowing XMLTag) {
    let relation = Self.relation(of: tag)
    switch relation {
    case "alternate":
      let isOfPage = Self.isOfPage(tag)
      // The first one counts, but a page comes before a document of another type.
      guard !item.linkIsAlternate, isOfPage || !item.linkIsOfOtherType, let address = resolved(tag) else { return }
      (item.link, item.linkIsAlternate, item.linkIsOfOtherType) = (address, isOfPage, !isOfPage)
    case "enclosure": noteEnclosure(tag.rawValue("href"), tag)
    default:
      // Keep the first related link, which is better than none.
      if item.link == nil, relation == "related" || relation == "via" { item.link = resolved(tag) }
    }
  }

  mutating func noteEnclosure(_ address: Bytes?, _ tag: borrowing XMLTag) {
    guard let address else { return }
    let type = (tag.rawValue("type") ?? tag.rawValue("enc:type"))?.trimmed
    guard isImage(type: type, medium: nil, address: address) else { return }
    noteImage(address, from: .enclosure, tag)
  }

  /// Handles Media RSS: images in the item and in groups, and their descriptions.
  mutating func beginInMedia(_ element: Element, _ tag: borrowing XMLTag, _ hash: UInt64) -> Frame {
    guard element.namespace == .media else {
      return beginPlace(element, hash) ?? Frame(name: hash, context: .ignored)
    }
    switch element.name {
    case .group:
      item.mediaGroups += 1
      return Frame(name: hash, context: .media, group: item.mediaGroups)
    case .location:
      if item.item.location == nil, let name = tag.value("description").map(plainLine), !name.isEmpty {
        item.item.location = FeedPlace(name: name)
      }
      return Frame(name: hash, context: .place)
    case .content:
      let count = item.item.images.count
      if let address = tag.rawValue("url"),
        isImage(type: tag.rawValue("type")?.trimmed, medium: tag.rawValue("medium")?.trimmed, address: address)
      {
        noteImage(address, from: .mediaContent, tag)
      }
      return Frame(name: hash, context: .media, image: item.item.images.count > count ? count + 1 : 0)
    case .thumbnail: return beginImage(tag.rawValue("url"), from: .mediaThumbnail, tag, hash)
    case .title: return text(.mediaTitle, tag, element, hash)
    case .description: return text(.mediaDescription, tag, element, hash)
    default: return Frame(name: hash, context: .ignored)
    }
  }

  /// Begins Atom's `content`, which may be an image at another URL.
  mutating func beginContent(_ element: Element, _ tag: borrowing XMLTag, _ hash: UInt64) -> Frame {
    if let source = tag.rawValue("src") {
      if isImage(type: tag.rawValue("type")?.trimmed, medium: nil, address: source) {
        noteImage(source, from: .content, tag)
      }
      return Frame(name: hash, context: .ignored)
    }
    return text(.content, tag, element, hash)
  }

  /// The open group.
  private var mediaGroup: Int? {
    guard context == .media else { return nil }
    return stack.last { $0.group > 0 }?.group
  }

  /// Adds the image at a URL from an attribute.
  mutating func noteImage(
    _ address: Bytes?, from source: FeedImageCandidate.Source, _ tag: borrowing XMLTag
  ) {
    guard let address else { return }
    let details = FeedImageCandidate(
      address: "", source: source, width: tag.rawValue("width")?.integer, height: tag.rawValue("height")?.integer,
      type: tag.value("type").flatMap { $0.isEmpty ? nil : $0 },
      isDefault: tag.rawValue("isdefault")?.trimmed.equalsIgnoringCase("true") == true, group: mediaGroup)
    if address.firstIndex(of: UInt8(ascii: "&"), from: 0, to: address.count) == nil {
      note(address, from: source, details)
    } else {
      var decoded: [UInt8] = []
      if !Entities.append(address, to: &decoded) { repairs.insert(.ampersand) }
      decoded.withBytes { note($0, from: source, details) }
    }
  }

  mutating func note(_ address: Bytes, from source: FeedImageCandidate.Source, _ details: FeedImageCandidate? = nil) {
    guard let address = absoluteAddress(address, base: base) else { return }
    var candidate = details ?? FeedImageCandidate(address: "", source: source)
    candidate.address = address
    if !item.item.addImage(candidate, limit: limits.imagesPerItem) { repairs.insert(.images) }
  }

  mutating func finishItem() throws(FeedFormatError) {
    isInItem = false
    guard document.items.count < limits.items else { throw .tooManyItems(limit: limits.items) }
    var item = self.item.item
    let draft = self.item
    item.title = draft.title ?? draft.otherTitle ?? draft.mediaTitle
    item.summary = draft.summary ?? draft.otherSummary
    item.content = draft.content ?? draft.body
    item.guid = draft.guid ?? draft.about
    item.link = draft.link
    if item.link == nil || !draft.linkIsAlternate, draft.guidIsAddress || draft.guid == nil, let guid = item.guid {
      // A relative guid isn't a link, because most are opaque; `rdf:about` is a URL.
      item.link = guid.withBytes { absoluteAddress($0, base: draft.guid == nil ? base : nil) } ?? item.link
    }
    item.published = draft.published ?? draft.issued
    if item.location?.point == nil, let latitude = draft.latitude, let longitude = draft.longitude,
      let point = "\(latitude) \(longitude)".withBytes(coordinates)
    {
      item.location = FeedPlace(name: item.location?.name, point: point)
    }
    let outer = baseAddress(item.link) ?? base
    let limit = limits.imagesPerItem
    if !item.addImages(in: item.content, from: .content, base: draft.contentBase ?? outer, limit: limit)
      || !item.addImages(in: item.summary, from: .summary, base: draft.summaryBase ?? outer, limit: limit)
    {
      repairs.insert(.images)
    }
    if item.images.count > 1 {
      for (image, text) in draft.imageDescriptions { item.images[image].describe(text) }
    }
    item.chooseImage()
    addressBytes += item.addressBytes
    guard addressBytes <= limits.addressBytes else { throw .addressesTooLong(limit: limits.addressBytes) }
    document.items.append(item)
  }
}

extension FeedItem {
  /// The total length of the item's link and of its images' URLs.
  var addressBytes: Int { images.reduce(link?.utf8.count ?? 0) { $0 + $1.address.utf8.count } }

  /// Returns false if there is no room for another image.
  mutating func addImage(_ image: FeedImageCandidate, limit: Int) -> Bool {
    if images.contains(where: { $0.address == image.address && $0.source == image.source }) { return true }
    guard images.count < limit else { return false }
    images.append(image)
    return true
  }

  /// Adds the images in a text, if it is HTML. Returns false if there is no room for all of them.
  mutating func addImages(
    in text: FeedText?, from source: FeedImageCandidate.Source, base: String?, limit: Int
  ) -> Bool {
    guard let text, text.isMarkup else { return true }
    return text.value.withBytes { html in
      var images = HTMLImages(html)
      while let image = images.next() {
        guard let address = image.address.withBytes({ absoluteAddress($0, base: base) }) else { continue }
        let candidate = FeedImageCandidate(
          address: address, source: source, width: image.width, height: image.height, alt: image.alt)
        guard addImage(candidate, limit: limit) else { return false }
      }
      return true
    }
  }
}

/// True for an image, judged by its type, or by its medium if it has no type, or by the extension of its URL if it has
/// neither. An invalid type (`imaage/png`) does not count.
func isImage(type: Bytes?, medium: Bytes?, address: Bytes) -> Bool {
  if let type, type.count > 0 {
    if type.startsIgnoringCase(with: "image/") || medium?.equalsIgnoringCase("image") == true { return true }
    let others: [StaticString] = [
      "application/", "audio/", "video/", "text/", "font/", "model/", "multipart/", "message/",
    ]
    if others.contains(where: { type.startsIgnoringCase(with: $0) }) { return false }
  }
  if let medium {
    if medium.equalsIgnoringCase("image") { return true }
    let others: [StaticString] = ["audio", "video", "document", "executable"]
    if others.contains(where: { medium.equalsIgnoringCase($0) }) { return false }
  }
  let path = address.trimmed.prefix { $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") }
  guard let dot = path.lastIndex(of: UInt8(ascii: ".")) else { return false }
  // Ignore a suffix, as in `photo.jpg:large` and `photo.jpg!thumb`.
  let ending = Bytes(rebasing: path[(dot + 1)...].prefix { $0.isLetter || $0.isDigit })
  let endings: [StaticString] = [
    "jpg", "jpeg", "png", "gif", "webp", "avif", "heic", "heif", "jxl", "bmp", "svg", "jfif", "apng",
  ]
  return endings.contains { ending.equalsIgnoringCase($0) }
}
