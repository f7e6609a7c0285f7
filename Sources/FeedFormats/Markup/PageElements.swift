/// The elements of a web page with the given names, in order, except for those in comments, scripts, styles and text
/// areas.
///
/// The page is untrusted: each byte is read once, and a tag has at most 256 attributes.
struct PageElements {
  private let html: Bytes
  private let names: [StaticString]
  private var index = 0
  /// The element that ``next()`` found last.
  private(set) var tag: XMLTag

  /// - Parameter names: in lower case.
  init(_ html: Bytes, named names: [StaticString]) {
    self.html = html
    self.names = names
    tag = XMLTag(bytes: html)
  }

  /// Moves to the next element.
  ///
  /// - Returns: its name, in lower case; `nil` after the last element.
  mutating func next() -> String? {
    while let start = html.firstIndex(of: UInt8(ascii: "<"), from: index, to: html.count) {
      index = start + 1
      if html.starts(with: "<!--", at: start) {
        index = html.firstRange(of: "-->", from: start).map { $0 + 3 } ?? html.count
      } else if let end = html.endOfRawText(at: start) {
        index = end
      } else if let name = names.first(where: { html.beginsTag($0, at: index) }) {
        guard let end = tag.readInHTML(at: start, attributes: 256) else { continue }
        index = end
        return "\(name)"
      }
    }
    return nil
  }

  /// The absolute http or https URL in an attribute of the element.
  func address(_ attribute: StaticString, base: String?) -> String? {
    tag.value(attribute)?.withBytes { absoluteAddress($0, base: base) }
  }
}

/// The elements whose content is text, even if it looks like markup.
private let rawTextElements: [StaticString] = ["script", "style", "textarea"]

extension Bytes {
  /// The end of the script, style or text area that begins with the `<` at `start`; the end of the bytes if there is no
  /// end tag, and `nil` if there is no such element at `start`.
  func endOfRawText(at start: Int) -> Int? {
    guard let name = rawTextElements.first(where: { beginsTag($0, at: start + 1) }) else { return nil }
    guard let close = firstIndex(of: UInt8(ascii: ">"), from: start, to: count) else { return count }
    // In XHTML, this element is empty.
    if self[close - 1] == UInt8(ascii: "/") { return close + 1 }
    var index = close
    while let end = firstRange(of: "</", from: index) {
      index = end + 2
      if beginsTag(name, at: index) { return index }
    }
    return count
  }
}
