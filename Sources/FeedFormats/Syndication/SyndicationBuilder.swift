/// Builds a document from the parts of RSS or Atom that ``XMLScanner`` finds.
///
/// It keeps a stack of open elements, each with the meaning that it has at its position. An end tag closes everything
/// up to the open element of the same name, so an element without an end tag ends with its parent. An item can begin
/// anywhere except inside an item.
struct SyndicationBuilder: XMLSink {
  /// The meaning of an open element.
  enum Context: UInt8 {
    /// An element before or around a feed.
    case outside
    case root, channel, item
    /// `media:group` and `media:content`.
    case media
    /// `georss:where`, `geo:Point`, `gml:Point`.
    case place
    /// An image whose URL may be its text.
    case image
    /// `skipHours`, `skipDays`.
    case skipping
    case field
    /// An element with all of its content in attributes; if it isn't closed, the next element ends it.
    case void
    /// An element inside text.
    case markup
    /// The outer `<div>` of Atom's XHTML, which is not part of the text.
    case wrapper
    case ignored
    /// An unknown element in an item. It may contain images, or be a misspelled element without an end tag.
    case unknown
  }

  struct Frame {
    /// The hash of the element's name; 0 if no end tag closes it.
    var name: UInt64
    let context: Context
    var field = FeedField.title
    var hasBase = false
    /// The number of a `media:group`, from 1; 0 for anything else.
    var group = 0
    /// The number of the image that a `media:content` has added to its item, from 1; 0 for anything else.
    var image = 0
  }

  var document = FeedDocument(format: .rss)
  /// True as soon as a feed, or a part of one, has begun.
  var isRecognized = false
  /// True when a channel is the outermost element: the root of CDF, or of RSS without its own root.
  var beginsWithChannel = false
  /// True after HTML's document type, which some feeds have, too.
  var looksLikePage = false
  /// True within HTML's root element, where only a feed's root element begins a feed.
  var isPage = false
  /// True after the root element of a list of feeds.
  var isList = false
  var repairs: Repairs = []
  var stack: [Frame] = []
  var item = ItemDraft()
  /// True while an item is open.
  var isInItem = false
  /// True while open elements are closed at the end of a document that was cut off.
  var isCutOff = false
  var siteLink: (address: String, isBest: Bool)?
  var selfLink: String?
  var updatePeriod: Int?
  var updateFrequency = 1
  /// The total length of the URLs of all items and their images.
  var addressBytes = 0

  /// The text of the open field.
  var text: [UInt8] = []
  var kind = TextKind.html
  /// The source of the image whose URL is being read.
  var imageSource = FeedImageCandidate.Source.image
  var wantsText = false
  var bases: [String] = []
  let limits: FeedLimits
  private let address: String?
  var namespaces = Namespaces()
  let names = ElementName.Table()

  /// - Parameter address: the document's final URL.
  init(address: String?, limits: FeedLimits) {
    self.address = baseAddress(address)
    self.limits = limits
  }

  /// The base of relative URLs: `xml:base`, or else the document's URL, or else the URL that the document gives for
  /// itself, or else its site's.
  var base: String? { bases.last ?? address ?? baseAddress(selfLink) ?? baseAddress(siteLink?.address) }

  var context: Context { stack.last?.context ?? .outside }

  var textElement: UInt64? {
    let element = stack.last { $0.context != .markup && $0.context != .wrapper }
    return element.flatMap { $0.name == 0 ? nil : $0.name }
  }

  mutating func repair(_ repair: Repairs) { repairs.insert(repair) }

  mutating func doctype(_ name: Bytes) throws(FeedFormatError) {
    if !isRecognized, name.equalsIgnoringCase("html") { looksLikePage = true }
  }

  mutating func open(_ tag: borrowing XMLTag) throws(FeedFormatError) {
    guard stack.count < limits.depth else { throw .tooDeep(limit: limits.depth) }
    let name = tag.nameBytes
    let hash = name.nameHash
    if tag.attributes.contains(where: { tag.name(of: $0).starts(with: "xmlns") }) {
      namespaces.declare(tag, depth: stack.count + 1)
    }
    let element = resolve(name, hash)
    if isPage, !isRecognized, !isRoot(element, tag) { return }
    if context == .field || context == .markup || context == .wrapper {
      if interrupts(element) {
        repairs.insert(.unclosed)
        while context == .field || context == .markup || context == .wrapper { try pop() }
      } else {
        try openMarkup(tag, hash: hash, name: name)
        return
      }
    }
    while context == .void || context == .media && isOutsideMedia(element) {
      repairs.insert(.unclosed)
      try pop()
    }
    if isInItem, element.namespace.isOfFeed, element.name == .item || element.name == .entry {
      repairs.insert(.unclosed)
      while isInItem { try pop() }
    }
    let hasBase = pushBase(tag)
    var frame = try begin(element, tag, hash: hash)
    frame.hasBase = hasBase
    try push(frame, isClosed: tag.isClosed)
  }

  /// True for the root of a feed within a web page: its name or attributes identify the format.
  private func isRoot(_ element: Element, _ tag: borrowing XMLTag) -> Bool {
    switch (element.namespace, element.name) {
    case (.core, .rss): tag.rawValue("version") != nil
    case (.atom, .feed), (.atom03, .feed): true
    default: false
    }
  }

  mutating func close(_ name: Bytes) throws(FeedFormatError) {
    let hash = name.nameHash
    guard let place = stack.lastIndex(where: { $0.name == hash }) else {
      repairs.insert(.strayEnd)
      // For `<title>One</titel>` and `<gid>1</guid>`, any end tag ends the field, unless it is an HTML element's.
      if context == .field || context == .ignored || context == .unknown, !HTMLNames.isKnown(hash) { try pop() }
      return
    }
    if place < stack.count - 1 {
      repairs.insert(.unclosed)
      while stack.count > place + 1 { try pop() }
    }
    if context == .markup {
      text += [UInt8(ascii: "<"), UInt8(ascii: "/")]
      text.append(Self.local(name))
      text.append(UInt8(ascii: ">"))
      try checkLength()
    }
    try pop()
  }

  mutating func text(_ bytes: Bytes, isLiteral: Bool) throws(FeedFormatError) {
    if kind == .xhtml {
      appendEscaped(bytes, isLiteral: isLiteral)
    } else if isLiteral {
      text.append(bytes)
    } else if !Entities.append(bytes, to: &text) {
      repairs.insert(.ampersand)
    }
    try checkLength()
  }

  /// Ends the elements that are still open and returns the document.
  mutating func finish() throws(FeedFormatError) -> FeedDocument {
    // Elements before, around and after a feed, such as a counter's, needn't end.
    if stack.contains(where: { $0.context == .root || $0.context == .channel || $0.context == .item }) {
      repairs.insert(.cutOff)
      isCutOff = true
      while !stack.isEmpty { try pop() }
    }
    document.link = siteLink?.address
    document.noteHub(topic: selfLink)
    if let updatePeriod { document.polling.updateInterval = updatePeriod / max(1, updateFrequency) }
    document.repairs = repairs.sentences
    // If the outermost element has ended, the feed is complete.
    document.isCutOff = isCutOff || repairs.isSuperset(of: [.cutOff, .noRoot])
    return document
  }
}

extension SyndicationBuilder {
  /// The error for a document that is not a feed.
  var reasonForNone: FeedFormatError { isList ? .listOfFeeds : looksLikePage || isPage ? .webPage : .notAFeed }

  /// True for a web page without items, and for other XML that happens to have elements called `item`.
  func isEmptyByChance(_ document: FeedDocument) -> Bool {
    if isPage { return document.items.isEmpty }
    return repairs.contains(.noRoot) && document.title == nil && document.items.allSatisfy(\.isEmpty)
  }
}

extension FeedItem {
  fileprivate var isEmpty: Bool {
    guid == nil && title == nil && summary == nil && content == nil && link == nil && images.isEmpty
  }
}

struct Element {
  let namespace: Namespace
  let name: ElementName
}
