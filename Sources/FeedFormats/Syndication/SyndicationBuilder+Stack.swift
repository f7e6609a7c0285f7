// The open elements, and text that contains elements.
extension SyndicationBuilder {
  mutating func push(_ frame: Frame, isClosed: Bool) throws(FeedFormatError) {
    stack.append(frame)
    wantsText = frame.context.wantsText
    if isClosed { try pop() }
  }

  mutating func pop() throws(FeedFormatError) {
    let frame = stack.removeLast()
    switch frame.context {
    case .field: finish(frame.field)
    case .image: finish(.imageAddress)
    case .item: try finishItem()
    default: break
    }
    if frame.hasBase { bases.removeLast() }
    if !namespaces.isEmpty { namespaces.leave(stack.count) }
    wantsText = context.wantsText
  }

  mutating func pushBase(_ tag: borrowing XMLTag) -> Bool {
    for attribute in tag.attributes where tag.name(of: attribute).equalsIgnoringCase("xml:base") {
      guard let value = tag.value("xml:base"),
        let base = baseAddress(value.withBytes { absoluteAddress($0, base: base) })
      else {
        return false
      }
      bases.append(base)
      return true
    }
    return false
  }

  func checkLength() throws(FeedFormatError) {
    guard text.count <= limits.textBytes else { throw .textTooLong(limit: limits.textBytes) }
  }

  mutating func openMarkup(_ tag: borrowing XMLTag, hash: UInt64, name: Bytes) throws(FeedFormatError) {
    if HTMLNames.endsItself(hash), let last = stack.last, last.context == .markup, last.name == hash {
      stack.removeLast()
    }
    let isWrapper = kind == .xhtml && context == .field && Self.local(name).equalsIgnoringCase("div")
    if !isWrapper {
      let source = tag.sourceBytes
      text.append(UInt8(ascii: "<"))
      // Omit the prefix, as in HTML.
      let local = Self.local(name)
      text.append(source.part(1 + name.count - local.count, source.count))
      try checkLength()
    }
    if tag.isClosed || HTMLNames.isVoid(hash) { return }
    if isWrapper, pushBase(tag), let field = stack.indices.last {
      // This element has the field's whole text, so its base is the field's, in place of the field's own.
      if stack[field].hasBase { bases.remove(at: bases.count - 2) }
      stack[field].hasBase = true
    }
    stack.append(Frame(name: hash, context: isWrapper ? .wrapper : .markup))
  }

  /// Appends text between the elements of XHTML, keeping escapes of `<` and `&`.
  mutating func appendEscaped(_ bytes: Bytes, isLiteral: Bool) {
    var plain: [UInt8] = []
    if isLiteral { plain.append(bytes) } else { Entities.append(bytes, to: &plain) }
    for byte in plain {
      switch byte {
      case UInt8(ascii: "<"): text += "&lt;".utf8
      case UInt8(ascii: ">"): text += "&gt;".utf8
      case UInt8(ascii: "&"): text += "&amp;".utf8
      default: text.append(byte)
      }
    }
  }

  static func local(_ name: Bytes) -> Bytes {
    guard let colon = name.firstIndex(of: UInt8(ascii: ":"), from: 0, to: name.count) else { return name }
    return name.part(colon + 1, name.count)
  }

  mutating func resolve(_ name: Bytes, _ hash: UInt64) -> Element {
    guard let colon = name.firstIndex(of: UInt8(ascii: ":"), from: 0, to: name.count) else {
      return Element(namespace: namespaces.ofUnprefixed, name: names.name(of: hash))
    }
    let (namespace, isDeclared) = namespaces.of(name.part(0, colon))
    if !isDeclared { repairs.insert(.prefix) }
    return Element(namespace: namespace, name: names.name(of: name.part(colon + 1, name.count).nameHash))
  }

  /// True for an element of a feed that can't be inside a media group.
  func isOutsideMedia(_ element: Element) -> Bool {
    guard element.namespace.isOfFeed else { return false }
    switch element.name {
    case .title, .link, .description, .summary, .guid, .id, .pubdate, .published, .updated, .author, .category:
      return true
    case .enclosure, .item, .entry, .channel: return true
    default: return false
    }
  }

  /// True for an element that can't be inside text, so the field before it was not closed.
  func interrupts(_ element: Element) -> Bool {
    if element.namespace.isOfFeed {
      switch element.name {
      case .item, .entry, .channel: return true
      case .pubdate, .guid, .enclosure, .published, .updated, .category: return kind != .xhtml
      case .title, .link, .description, .summary, .content, .id, .author, .image, .comments, .source:
        return context == .field && stack.last?.field.isShort == true && kind != .xhtml
      default: return false
      }
    }
    guard kind != .xhtml, element.name != .unknown else { return false }
    switch element.namespace {
    case .media, .itunes, .dublinCore, .content, .geoRSS, .geo, .syndication: return true
    default: return false
    }
  }
}

extension SyndicationBuilder.Context {
  @inline(__always)
  fileprivate var wantsText: Bool {
    switch self {
    case .field, .markup, .wrapper, .image: true
    default: false
    }
  }
}
