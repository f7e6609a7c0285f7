/// The elements of a web page with the given names, in order, except for those in comments, scripts, styles and text
/// areas.
///
/// The page is untrusted: it is read in linear time, and a tag has at most 256 attributes.
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
      } else if let kind = html.rawTextKind(at: start) {
        index = html.endOfRawText(kind, at: start)
      } else if index < html.count, html[index].isLetter {
        // Every tag is read, because another tag's attributes may contain `<script>`.
        let name = names.first { html.beginsTag($0, at: index) }
        guard let end = tag.readInHTML(at: start, attributes: 256) else { continue }
        index = end
        if let name { return "\(name)" }
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
  /// A number for the kind of the script, style or text area that begins with the `<` at `start`; `nil` if none does.
  func rawTextKind(at start: Int) -> Int? { rawTextElements.firstIndex { beginsTag($0, at: start + 1) } }

  /// The end of the element of this kind that begins with the `<` at `start`; the end of the bytes if there is no end
  /// tag.
  func endOfRawText(_ kind: Int, at start: Int) -> Int {
    guard let close = firstIndex(of: UInt8(ascii: ">"), from: start, to: count) else { return count }
    // In XHTML, this element is empty.
    if self[close - 1] == UInt8(ascii: "/") { return close + 1 }
    var index = close
    while let end = firstRange(of: "</", from: index) {
      index = end + 2
      if beginsTag(rawTextElements[kind], at: index) { return index }
    }
    return count
  }
}
