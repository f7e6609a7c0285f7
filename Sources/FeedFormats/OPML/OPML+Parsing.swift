extension OPML {
  /// Reads a list.
  ///
  /// - Parameters:
  ///   - bytes: the document, in any encoding that feeds may have.
  ///   - limits: the document's limits; outlines count as items.
  /// - Throws: ``FeedFormatError/notAFeed`` when the first kilobytes contain no OPML, ``FeedFormatError/empty``, and
  ///   each limit's own error.
  public init(parsing bytes: [UInt8], limits: FeedLimits = FeedLimits()) throws(FeedFormatError) {
    guard !bytes.isEmpty else { throw .empty }
    guard bytes.count <= limits.documentBytes else { throw .documentTooLong(limit: limits.documentBytes) }
    var decoder = TextDecoder(charset: nil)
    var scanner = XMLScanner(limits: limits)
    var reader = OPMLReader(limits: limits)
    var index = 0
    while index < bytes.count {
      let end = min(bytes.count, index + limits.recognitionBytes)
      bytes.withUnsafeBufferPointer { bytes in
        decoder.decode(bytes.part(index, end), isLast: end == bytes.count, to: &scanner.pending)
      }
      try scanner.scan(isLast: end == bytes.count, into: &reader)
      index = end
      // The decoder may hold the root element, until the encoding of an earlier character is certain.
      guard reader.isRecognized || index < bytes.count && index - decoder.held < limits.recognitionBytes else {
        throw .notAFeed
      }
    }
    self = reader.finish()
  }
}

/// Builds the tree of outlines from the tags of a document.
struct OPMLReader: XMLSink {
  private enum Name {
    static let opml = StaticString("opml").nameHash
    static let outline = StaticString("outline").nameHash
    static let title = StaticString("title").nameHash
    static let body = StaticString("body").nameHash
  }

  private let limits: FeedLimits
  private var list = OPML()
  /// The URI of each prefix that the list declares.
  private var declared: [String: String] = [:]
  /// The open outlines, innermost last.
  private var open: [OPML.Outline] = []
  /// The number of open outlines that declare a prefix differently from the list.
  private var redeclaring = 0
  private var count = 0
  private var titleText: [UInt8]?
  /// The hash of the name of the last opened element, until an end tag.
  private var lastOpened: UInt64?
  /// True once the outermost element, or an outline, has been found.
  private(set) var isRecognized = false
  private var isRootOpen = false

  init(limits: FeedLimits) { self.limits = limits }

  var wantsText: Bool { titleText != nil }
  var textElement: UInt64? { titleText == nil ? lastOpened : Name.title }

  mutating func open(_ tag: borrowing XMLTag) throws(FeedFormatError) {
    let hash = tag.nameBytes.nameHash
    lastOpened = tag.isClosed ? nil : hash
    switch hash {
    case Name.opml:
      isRecognized = true
      isRootOpen = !tag.isClosed
      takeNamespaces(of: tag)
    case Name.outline: try takeOutline(tag)
    case Name.title where list.title == nil && list.outlines.isEmpty && open.isEmpty && !tag.isClosed: titleText = []
    case Name.body: endTitle()
    default: break
    }
  }

  mutating func close(_ name: Bytes) {
    lastOpened = nil
    switch name.nameHash {
    case Name.title: endTitle()
    case Name.outline: if let outline = closeLast() { append([outline]) }
    case Name.body: closeAll()
    case Name.opml: isRootOpen = false
    default: break
    }
  }

  mutating func text(_ bytes: Bytes, isLiteral: Bool) throws(FeedFormatError) {
    guard titleText != nil else { return }
    if isLiteral { titleText!.append(bytes) } else { _ = Entities.append(bytes, to: &titleText!) }
    guard titleText!.count <= limits.textBytes else { throw .textTooLong(limit: limits.textBytes) }
  }

  func doctype(_ name: Bytes) {}
  func repair(_ repair: Repairs) {}

  mutating func finish() -> OPML {
    endTitle()
    closeAll()
    list.isCutOff = isRootOpen
    return list
  }
}

extension OPMLReader {
  private mutating func endTitle() {
    guard let text = titleText else { return }
    titleText = nil
    let title = plainLine(String(decoding: text, as: UTF8.self))
    if title.hasVisibleCharacter { list.title = title }
  }

  private mutating func takeNamespaces(of tag: borrowing XMLTag) {
    for attribute in tag.attributes {
      let name = tag.name(of: attribute)
      guard name.starts(with: "xmlns:"), name.count > 6 else { continue }
      let prefix = name.part(6, name.count).string
      guard list.namespaces.count < OPML.mostNamespaces, prefix.isPrefix, declared[prefix] == nil else { continue }
      let address = Self.text(tag.rawValue(of: attribute))
      declared[prefix] = address
      list.namespaces.append(OPML.Attribute(prefix, address))
    }
  }

  private mutating func takeOutline(_ tag: borrowing XMLTag) throws(FeedFormatError) {
    isRecognized = true
    endTitle()
    count += 1
    guard count <= limits.items else { throw .tooManyItems(limit: limits.items) }
    // A prefix may be declared on any element; the list declares it at its beginning.
    takeNamespaces(of: tag)
    var outline = Self.outline(tag)
    outline.attributes.removeAll { attribute in
      guard let prefix = attribute.declaredPrefix else { return false }
      guard let address = declared[prefix] else { return true }
      // Inside an outline with declarations of its own, a repeated declaration may restore the list's meaning.
      return redeclaring == 0 && address == attribute.value
    }
    guard !tag.isClosed else { return append([outline]) }
    if open.count >= limits.depth {
      // Feeds without end tags seem to be nested: close the innermost one.
      guard let last = open.last, last.address != nil else { throw .tooDeep(limit: limits.depth) }
      closeLastWithoutTag()
    }
    if outline.declaresPrefixes { redeclaring += 1 }
    open.append(outline)
  }

  private mutating func closeLast() -> OPML.Outline? {
    guard let outline = open.popLast() else { return nil }
    if outline.declaresPrefixes { redeclaring -= 1 }
    return outline
  }

  private static func outline(_ tag: borrowing XMLTag) -> OPML.Outline {
    var outline = OPML.Outline()
    var known: Set<String> = []
    for attribute in tag.attributes {
      let (name, value) = (tag.name(of: attribute), text(tag.rawValue(of: attribute)))
      // If an attribute is repeated, the first one counts.
      if name.equalsIgnoringCase("text") {
        if outline.text == nil { outline.text = value }
      } else if name.equalsIgnoringCase("title") {
        if outline.title == nil { outline.title = value }
      } else if name.equalsIgnoringCase("xmlurl") {
        if outline.address == nil, !value.isEmpty { outline.address = value }
      } else if name.equalsIgnoringCase("htmlurl") {
        if outline.page == nil { outline.page = value }
      } else if case let name = name.string, name.isAttributeName, known.insert(name.lowercased()).inserted {
        outline.attributes.append(OPML.Attribute(name, value))
      }
    }
    // Some lists write the URL of a feed as `url`.
    if outline.address == nil, ["rss", "atom"].contains(outline[attribute: "type"]?.lowercased() ?? ""),
      let url = outline[attribute: "url"]
    {
      outline.address = url
      outline[attribute: "url"] = nil
    }
    return outline
  }

  private static func text(_ raw: Bytes) -> String {
    var text: [UInt8] = []
    Entities.append(raw.trimmed, to: &text)
    return String(decoding: text, as: UTF8.self)
  }

  private mutating func append(_ outlines: [OPML.Outline]) {
    if open.isEmpty {
      list.outlines += outlines
    } else {
      open[open.count - 1].outlines += outlines
    }
  }

  private mutating func closeAll() {
    while !open.isEmpty { closeLastWithoutTag() }
  }

  /// Outlines inside an unclosed feed are moved next to it; those inside an unclosed folder stay in the folder.
  private mutating func closeLastWithoutTag() {
    guard var outline = closeLast() else { return }
    guard outline.address != nil else { return append([outline]) }
    let following = outline.outlines
    outline.outlines = []
    append([outline] + following)
  }
}

extension String {
  /// True for a valid attribute name, with or without a prefix. `xmlns` alone isn't an attribute of the outline.
  fileprivate var isAttributeName: Bool {
    let parts = split(separator: ":", omittingEmptySubsequences: false)
    guard parts.count <= 2, parts.allSatisfy(\.isNameWithoutColon) else { return false }
    return parts[0] != "xmlns" || parts.count == 2 && String(parts[1]).isPrefix
  }

  /// True for a prefix that a document may declare.
  fileprivate var isPrefix: Bool { self[...].isNameWithoutColon && !lowercased().hasPrefix("xml") }
}

extension Substring {
  fileprivate var isNameWithoutColon: Bool {
    guard let first = unicodeScalars.first, first.beginsXMLName else { return false }
    // Names are written as they are, so they have no invisible characters, which a terminal might obey.
    return unicodeScalars.allSatisfy { $0.isInXMLName && $0.properties.generalCategory != .format }
  }
}

extension Unicode.Scalar {
  /// True for a character that a name without a colon can begin with (XML 1.0, 2.3).
  fileprivate var beginsXMLName: Bool {
    switch self {
    case "A"..."Z", "a"..."z", "_": true
    case "\u{C0}"..."\u{D6}", "\u{D8}"..."\u{F6}", "\u{F8}"..."\u{2FF}", "\u{370}"..."\u{37D}": true
    case "\u{37F}"..."\u{1FFF}", "\u{2070}"..."\u{218F}", "\u{2C00}"..."\u{2FEF}", "\u{3001}"..."\u{D7FF}": true
    case "\u{F900}"..."\u{FDCF}", "\u{FDF0}"..."\u{FFFD}", "\u{10000}"..."\u{EFFFF}": true
    default: false
    }
  }

  fileprivate var isInXMLName: Bool {
    switch self {
    case "0"..."9", "-", ".", "\u{B7}", "\u{300}"..."\u{36F}", "\u{203F}"..."\u{2040}": true
    default: beginsXMLName
    }
  }
}

extension OPML.Outline {
  fileprivate var declaresPrefixes: Bool { attributes.contains { $0.declaredPrefix != nil } }
}
