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

  private static func write(_ outline: Outline, depth: Int, _ declared: Set<String>, to text: inout String) {
    // An outline may declare a prefix differently from the list.
    let own = outline.attributes.compactMap(\.declaredPrefix)
    let declared = own.isEmpty ? declared : declared.union(own)
    let margin = String(repeating: "  ", count: depth)
    text += "\(margin)<outline"
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
    guard !outline.outlines.isEmpty else {
      text += "/>\n"
      return
    }
    text += ">\n"
    for inner in outline.outlines { write(inner, depth: depth + 1, declared, to: &text) }
    text += "\(margin)</outline>\n"
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
