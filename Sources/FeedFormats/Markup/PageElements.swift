/// The elements of a web page with the given names, in order, except for those in comments, scripts and styles.
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
      if let end = endOfOpaque(at: start) {
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

  /// The end of a comment, a script or a style, which contain no elements.
  private func endOfOpaque(at start: Int) -> Int? {
    let rest = html.part(start, html.count)
    func end(_ text: StaticString) -> Int { rest.firstRange(of: text).map { start + $0 + 3 } ?? html.count }
    if html.starts(with: "<!--", at: start) { return end("-->") }
    for (opening, closing) in [("<script", "</script"), ("<style", "</style")] as [(StaticString, StaticString)]
    where html.startsIgnoringCase(with: opening, at: start) {
      return end(closing)
    }
    return nil
  }
}
