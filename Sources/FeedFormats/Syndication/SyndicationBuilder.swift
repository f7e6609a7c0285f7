/// Makes a document of RSS or Atom of the parts that ``XMLScanner`` finds.
///
/// A stack of open elements, each with what it means where it stands. An end tag closes up to the element of its name, so
/// that what is left open ends with what it is in; an item begins anywhere but in an item.
struct SyndicationBuilder: XMLSink {
  /// What an open element is.
  enum Context: UInt8 {
    /// Before, or around, a feed.
    case outside
    case root, channel, item
    /// `media:group` and `media:content`.
    case media
    /// `georss:where`, `geo:Point`, `gml:Point`.
    case place
    /// An item's own `<image>`.
    case image
    /// `skipHours`, `skipDays`.
    case skipping
    case field
    /// An element inside a text.
    case markup
    /// The outer `<div>` of Atom's XHTML, which is no part of the text.
    case wrapper
    case ignored
    /// An element of an item that nobody here knows: it may hold pictures, or be a known one misspelled that nothing ends.
    case unknown
  }

  struct Frame {
    /// Its hash; 0 for what no end tag closes.
    var name: UInt64
    let context: Context
    var field = FeedField.title
    var hasBase = false
  }

  var document = FeedDocument(format: .rss)
  /// True as soon as a feed, or a part of one, has begun.
  var isRecognized = false
  /// True after HTML's document type, which some feeds have as well.
  var looksLikePage = false
  var repairs: Repairs = []
  var stack: [Frame] = []
  var item = ItemDraft()
  /// How many of the open elements are items: 0 or 1.
  var isInItem = false
  /// True while what is left open is closed at the end of a document that was cut off.
  var isCutOff = false
  var siteLink: (address: String, isBest: Bool)?
  var updatePeriod: Int?
  var updateFrequency = 1
  /// How long the addresses of all pictures are.
  var addressBytes = 0

  /// The text of the field that is open.
  var text: [UInt8] = []
  var kind = TextKind.html
  var wantsText = false
  var bases: [String] = []
  let limits: FeedLimits
  private let address: String?
  var namespaces = Namespaces()
  let names = ElementName.Table()

  /// - Parameter address: the document's final address.
  init(address: String?, limits: FeedLimits) {
    self.address = address
    self.limits = limits
  }

  /// What relative addresses are resolved against: `xml:base`, the document's address, or, of a document without one, the
  /// site's.
  var base: String? { bases.last ?? address ?? siteLink?.address }

  var context: Context { stack.last?.context ?? .outside }

  var textElement: UInt64? {
    stack.last { $0.context == .field || $0.context == .image }?.name
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
    if context == .field || context == .markup || context == .wrapper {
      if interrupts(element) {
        repairs.insert(.unclosed)
        while context == .field || context == .markup || context == .wrapper { try pop() }
      } else {
        openMarkup(tag, hash: hash, name: name)
        return
      }
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

  mutating func close(_ name: Bytes) throws(FeedFormatError) {
    let hash = name.nameHash
    guard let place = stack.lastIndex(where: { $0.name == hash }) else {
      repairs.insert(.strayEnd)
      // `<title>One</titel>`, `<gid>1</guid>`: an end of something; the end of HTML's elements is not the end of a field.
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
    guard text.count <= limits.textBytes else { throw .textTooLong(limit: limits.textBytes) }
  }

  /// Ends what is still open and hands the document over.
  mutating func finish() throws(FeedFormatError) -> FeedDocument {
    if stack.contains(where: { $0.name != 0 }) {
      repairs.insert(.cutOff)
      isCutOff = true
      while !stack.isEmpty { try pop() }
    }
    document.link = siteLink?.address
    if let updatePeriod { document.polling.updateInterval = updatePeriod / max(1, updateFrequency) }
    document.repairs = repairs.sentences
    return document
  }
}

struct Element {
  let namespace: Namespace
  let name: ElementName
}
