extension OPML {
  /// The list as an OPML 2.0 document, in UTF-8.
  ///
  /// Attributes with a prefix that neither ``namespaces`` nor an outline around them declares are left out, as OPML 2.0
  /// requires.
  public var document: String {
    var text = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<opml version=\"2.0\""
    for namespace in namespaces { text += " xmlns:\(namespace.name)=\"\(Self.escaped(namespace.value))\"" }
    text += ">\n  <head>\n"
    if let title { text += "    <title>\(Self.escaped(title))</title>\n" }
    text += "  </head>\n  <body>\n"
    let declared = Set(namespaces.map(\.name))
    for outline in outlines { Self.write(outline, depth: 2, declared, to: &text) }
    return text + "  </body>\n</opml>\n"
  }

  /// The first outline whose tag in ``document`` has the fault for which a reader refuses the document; `nil` if the
  /// fault isn't in a single outline.
  package func outline(causing error: FeedFormatError) -> Outline? {
    let declared = Set(namespaces.map(\.name))
    switch error {
    case .tagTooLong(let limit): return Self.first(in: outlines, declared) { $0.utf8.count > limit }
    // In a tag, a quotation mark that isn't escaped begins or ends a value.
    case .tooManyAttributes(let limit):
      return Self.first(in: outlines, declared) { $0.utf8.count { $0 == UInt8(ascii: "\"") } / 2 > limit }
    default: return nil
    }
  }

  private static func first(
    in outlines: [Outline], _ declared: Set<String>, whereTag isWanted: (String) -> Bool
  ) -> Outline? {
    for outline in outlines {
      let declared = outline.prefixes(inside: declared)
      var tag = ""
      writeTag(of: outline, declared, to: &tag)
      if isWanted(tag) { return outline }
      if let inner = first(in: outline.outlines, declared, whereTag: isWanted) { return inner }
    }
    return nil
  }

  private static func write(_ outline: Outline, depth: Int, _ declared: Set<String>, to text: inout String) {
    let declared = outline.prefixes(inside: declared)
    let margin = String(repeating: "  ", count: depth)
    text += margin
    writeTag(of: outline, declared, to: &text)
    text += "\n"
    guard !outline.outlines.isEmpty else { return }
    for inner in outline.outlines { write(inner, depth: depth + 1, declared, to: &text) }
    text += "\(margin)</outline>\n"
  }

  private static func writeTag(of outline: Outline, _ declared: Set<String>, to text: inout String) {
    text += "<outline"
    // Every outline must have `text`.
    write("text", outline.text ?? outline.title ?? outline.address ?? "", to: &text)
    if let title = outline.title { write("title", title, to: &text) }
    if let address = outline.address {
      if outline[attribute: "type"] == nil { write("type", "rss", to: &text) }
      write("xmlUrl", address, to: &text)
    }
    if let page = outline.page { write("htmlUrl", page, to: &text) }
    for attribute in outline.attributes where isDeclared(attribute.name, declared) {
      write(attribute.name, attribute.value, to: &text)
    }
    text += outline.outlines.isEmpty ? "/>" : ">"
  }

  private static func isDeclared(_ name: String, _ declared: Set<String>) -> Bool {
    let parts = name.split(separator: ":", omittingEmptySubsequences: false)
    // These two need no declaration.
    return parts.count == 1
      || parts.count == 2 && (parts[0] == "xmlns" || parts[0] == "xml" || declared.contains(String(parts[0])))
  }

  private static func write(_ name: String, _ value: String, to text: inout String) {
    text += " \(name)=\"\(escaped(value))\""
  }

  /// Escapes text. Characters that XML forbids are left out, and so are control characters, which feed readers don't
  /// show. Tabs and line breaks are written as references, because in an attribute they would be read as spaces.
  /// Characters that reorder or hide the text around them on a terminal are written as references, too; a parser reads
  /// them as the same characters.
  private static func escaped(_ text: String) -> String {
    var result = ""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "&": result += "&amp;"
      case "<": result += "&lt;"
      case ">": result += "&gt;"
      case "\"": result += "&quot;"
      case "\t", "\n", "\r": result += "&#\(scalar.value);"
      case "\0"..<" ", "\u{FFFE}", "\u{FFFF}": break
      case " "..<"\u{7F}": result.unicodeScalars.append(scalar)
      default:
        switch scalar.properties.generalCategory {
        case .control: break
        case .format, .lineSeparator, .paragraphSeparator:
          result += "&#x\(String(scalar.value, radix: 16, uppercase: true));"
        default: result.unicodeScalars.append(scalar)
        }
      }
    }
    return result
  }
}

extension OPML.Outline {
  /// The prefixes that are declared inside this outline, which may declare a prefix differently from the list.
  ///
  /// - Parameter declared: the prefixes that are declared around it.
  fileprivate func prefixes(inside declared: Set<String>) -> Set<String> {
    let own = attributes.compactMap(\.declaredPrefix)
    return own.isEmpty ? declared : declared.union(own)
  }
}
