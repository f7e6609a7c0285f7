// The meaning of an element at its position.
extension SyndicationBuilder {
  mutating func begin(_ element: Element, _ tag: borrowing XMLTag, hash: UInt64) throws(FeedFormatError) -> Frame {
    switch context {
    case .outside, .root: return try beginOutside(element, tag, hash)
    case .channel: return beginInChannel(element, tag, hash)
    case .item: return beginInItem(element, tag, hash)
    case .media: return beginInMedia(element, tag, hash)
    case .place: return beginPlace(element, hash) ?? Frame(name: hash, context: .ignored)
    case .image:
      guard element.name == .url else { return Frame(name: hash, context: .ignored) }
      return field(.imageAddress, hash)
    case .skipping:
      switch element.name {
      case .hour: return field(.skippedHour, hash)
      case .day: return field(.skippedDay, hash)
      default: return Frame(name: hash, context: .ignored)
      }
    case .ignored:
      if !isInItem, let frame = beginItem(element, tag, hash) { return frame }
      return Frame(name: hash, context: .ignored)
    case .unknown:
      switch (element.namespace, element.name) {
      case (.media, _), (.itunes, .image), (.content, .encoded), (_, .enclosure):
        return beginInItem(element, tag, hash)
      default: return ignored(element, hash)
      }
    case .field, .markup, .wrapper, .void: return Frame(name: hash, context: .ignored)
    }
  }

  private mutating func beginOutside(
    _ element: Element, _ tag: borrowing XMLTag, _ hash: UInt64
  ) throws(FeedFormatError) -> Frame {
    guard element.namespace.isOfFeed || element.namespace == .other else {
      if !isRecognized, element.namespace == .xhtml, element.name == .html { isPage = true }
      return Frame(name: hash, context: context)
    }
    switch element.name {
    case .rss:
      recognize(FeedKind(rssVersion: tag.value("version")))
      return Frame(name: hash, context: .root)
    case .rdf:
      let isOld = tag.attributes.contains { attribute in
        tag.name(of: attribute).starts(with: "xmlns")
          && Namespace(address: tag.rawValue(of: attribute).trimmed) == .rss090
      }
      recognize(isOld ? .rss090 : .rss10)
      return Frame(name: hash, context: .root)
    case .feed:
      let isOld = element.namespace == .atom03 || tag.rawValue("version")?.trimmed.equals("0.3") == true
      recognize(isOld ? .atom03 : .atom10)
      return Frame(name: hash, context: .channel)
    case .channel:
      if !isRecognized {
        recognize(.rss)
        repairs.insert(.noRoot)
        beginsWithChannel = true
        noteChannel(tag)
      }
      return Frame(name: hash, context: .channel)
    case .opml where !isRecognized:
      isList = true
      return Frame(name: hash, context: .outside)
    case .html where !isRecognized:
      isPage = true
      return Frame(name: hash, context: .outside)
    case .image, .textinput: return Frame(name: hash, context: .ignored)
    default: return beginItem(element, tag, hash) ?? Frame(name: hash, context: context)
    }
  }

  private mutating func recognize(_ kind: FeedKind) {
    guard !isRecognized else { return }
    isRecognized = true
    document.format = kind
    if !stack.isEmpty { repairs.insert(.junkBefore) }
    // Elements before the root aren't part of the feed: let no end tag close them.
    for place in stack.indices { stack[place].name = 0 }
  }

  private mutating func beginItem(_ element: Element, _ tag: borrowing XMLTag, _ hash: UInt64) -> Frame? {
    guard element.namespace.isOfFeed, element.name == .item || element.name == .entry else { return nil }
    if !isRecognized {
      recognize(element.name == .item ? .rss : element.namespace == .atom03 ? .atom03 : .atom10)
      repairs.insert(.noRoot)
    }
    isInItem = true
    item = ItemDraft()
    item.about = tag.value("rdf:about")
    if beginsWithChannel { noteItem(tag) }
    return Frame(name: hash, context: .item)
  }

  private mutating func beginInChannel(_ element: Element, _ tag: borrowing XMLTag, _ hash: UInt64) -> Frame {
    if let frame = beginItem(element, tag, hash) { return frame }
    if element.namespace == .syndication {
      switch element.name {
      case .updateperiod: return field(.updatePeriod, hash)
      case .updatefrequency: return field(.updateFrequency, hash)
      default: return Frame(name: hash, context: .ignored)
      }
    }
    if element.namespace == .dublinCore, element.name == .title { return text(.title, tag, element, hash) }
    guard element.namespace.isOfFeed else { return Frame(name: hash, context: .ignored) }
    switch element.name {
    case .channel: return Frame(name: hash, context: .channel)
    case .title: return text(.title, tag, element, hash)
    case .link:
      guard isAtomLink(element, tag) else { return field(.link, hash) }
      noteFeedLink(tag)
      return Frame(name: hash, context: .void)
    case .ttl: return field(.ttl, hash)
    case .skiphours, .skipdays: return Frame(name: hash, context: .skipping)
    case .abstract where beginsWithChannel:
      becomeCDF()
      return Frame(name: hash, context: .ignored)
    default: return Frame(name: hash, context: .ignored)
    }
  }

  private mutating func beginInItem(_ element: Element, _ tag: borrowing XMLTag, _ hash: UInt64) -> Frame {
    if let frame = beginPlace(element, hash) { return frame }
    switch (element.namespace, element.name) {
    case (.media, _): return beginInMedia(element, tag, hash)
    case (.content, .encoded): return text(.content, tag, element, hash)
    case (.xhtml, .body):
      let frame = text(.body, tag, element, hash)
      kind = .xhtml
      return frame
    case (.itunes, .image):
      return beginImage(tag.rawValue("href") ?? tag.rawValue("url"), from: .itunesImage, tag, hash)
    case (.itunes, .link):
      if tag.rawValue("rel")?.trimmed.equalsIgnoringCase("image") == true {
        noteImage(tag.rawValue("href"), from: .itunesImage, tag)
      }
      return Frame(name: hash, context: .ignored)
    case (.other, .enclosure):
      // RSS 1.0's `enc:enclosure`.
      noteEnclosure(tag.rawValue("rdf:resource") ?? tag.rawValue("resource"), tag)
      return Frame(name: hash, context: .ignored)
    case (.itunes, .summary): return text(.otherSummary, tag, element, hash)
    case (.itunes, .title): return text(.otherTitle, tag, element, hash)
    case (.dublinCore, .title): return text(.otherTitle, tag, element, hash)
    case (.dublinCore, .description): return text(.otherSummary, tag, element, hash)
    case (.dublinCore, .date), (.dublinCore, .issued), (.dublinCore, .created): return field(.issued, hash)
    case (.dublinCore, .modified): return field(.updated, hash)
    case (let namespace, let name) where namespace.isOfFeed: return beginOfFeed(name, element, tag, hash)
    default: return ignored(element, hash)
    }
  }

  private mutating func beginOfFeed(
    _ name: ElementName, _ element: Element, _ tag: borrowing XMLTag, _ hash: UInt64
  ) -> Frame {
    switch name {
    case .abstract where beginsWithChannel, .logo where beginsWithChannel, .a where beginsWithChannel:
      return beginOfCDF(name, element, tag, hash)
    case .title: return text(.title, tag, element, hash)
    case .description, .summary: return text(.summary, tag, element, hash)
    case .content: return beginContent(element, tag, hash)
    case .body: return text(.body, tag, element, hash)
    case .link:
      guard isAtomLink(element, tag) else { return field(.link, hash) }
      noteItemLink(tag)
      return Frame(name: hash, context: .void)
    case .guid:
      item.guidIsAddress = tag.rawValue("ispermalink")?.trimmed.equalsIgnoringCase("false") != true
      return field(.guid, hash)
    case .id:
      item.guidIsAddress = false
      return field(.guid, hash)
    case .pubdate, .published: return field(.published, hash)
    case .issued, .created, .date: return field(.issued, hash)
    case .updated, .modified: return field(.updated, hash)
    case .enclosure:
      let address = tag.rawValue("url") ?? tag.rawValue("href")
      if address == nil { return beginImage(nil, from: .enclosure, tag, hash) }
      noteEnclosure(address, tag)
      return Frame(name: hash, context: .void)
    case .image:
      let address = tag.rawValue("href") ?? tag.rawValue("url") ?? tag.rawValue("rdf:resource")
      return beginImage(address, from: .image, tag, hash)
    default: return ignored(element, hash)
    }
  }

  /// Begins an image, whose URL is an attribute, the element's text, or the text of a `<url>` in it.
  mutating func beginImage(
    _ address: Bytes?, from source: FeedImageCandidate.Source, _ tag: borrowing XMLTag, _ hash: UInt64
  ) -> Frame {
    noteImage(address, from: source, tag)
    imageSource = source
    text.removeAll(keepingCapacity: true)
    kind = .plain
    return Frame(name: hash, context: address == nil || source == .image ? .image : .void)
  }

  private func ignored(_ element: Element, _ hash: UInt64) -> Frame {
    Frame(name: hash, context: element.name == .unknown || element.name.isOfCDF ? .unknown : .ignored)
  }

  mutating func beginPlace(_ element: Element, _ hash: UInt64) -> Frame? {
    switch (element.namespace, element.name) {
    // Only the first point of a line, an area or a box is used.
    case (.geoRSS, .point), (.geoRSS, .circle), (.geoRSS, .line), (.geoRSS, .polygon), (.geoRSS, .box):
      field(.point, hash)
    case (.gml, .pos), (.gml, .coordinates), (.gml, .poslist), (.gml, .lowercorner): field(.point, hash)
    case (.geoRSS, .featurename): field(.featureName, hash)
    case (.geoRSS, .where), (.geo, .point), (.gml, .point): Frame(name: hash, context: .place)
    case (.gml, .linestring), (.gml, .polygon), (.gml, .exterior), (.gml, .outerboundaryis), (.gml, .linearring),
      (.gml, .envelope), (.gml, .box):
      Frame(name: hash, context: .place)
    case (.geo, .lat): field(.latitude, hash)
    case (.geo, .long), (.geo, .lon): field(.longitude, hash)
    default: nil
    }
  }

  /// Begins a field that is not human-readable text, such as a URL, a date or a number.
  mutating func field(_ field: FeedField, _ hash: UInt64) -> Frame {
    text.removeAll(keepingCapacity: true)
    kind = .html
    return Frame(name: hash, context: .field, field: field)
  }
}

extension FeedKind {
  init(rssVersion: String?) {
    switch rssVersion {
    case "0.90": self = .rss090
    case "0.91": self = .rss091
    case "0.92": self = .rss092
    case "0.93": self = .rss093
    case "0.94": self = .rss094
    case "1.0": self = .rss10
    case let version? where version.hasPrefix("2"): self = .rss20
    default: self = .rss
    }
  }
}
