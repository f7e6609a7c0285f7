/// Reduces HTML to one line of text. No tag, entity or control character remains, however often they are escaped.
///
/// Block elements and whitespace become one space; comments, and elements such as `<script>`, `<style>` and `<head>`,
/// are dropped with their content. If a tag still remains after a few rounds, a space is inserted after its `<`.
public func plainText(ofHTML html: String) -> String { plainText(ofHTML: Array(html.utf8), isCutOff: false) }

/// - Parameter isCutOff: true for the beginning of longer HTML. A tag, a comment or an element such as `<style>` whose
///   end is missing is then dropped, because it would be read as text.
func plainText(ofHTML html: [UInt8], isCutOff: Bool) -> String {
  var text = html
  for _ in 0..<4 {
    let reduced = text.withBytes { withoutMarkup($0, isCutOff: isCutOff) }
    if reduced == text { break }
    text = reduced
  }
  // Break up tags last, because dropping an element may have joined the parts of a tag.
  let line = text.withBytes(line)
  return line.withBytes { String(decoding: withoutTags($0), as: UTF8.self) }
}

/// Plain text on one line, without control characters, and with each run of whitespace replaced by a single space.
public func plainLine(_ text: String) -> String { text.withBytes(line) }

/// One round: removes tags and resolves entities.
private func withoutMarkup(_ html: Bytes, isCutOff: Bool) -> [UInt8] {
  var round = Round(html, isCutOff: isCutOff)
  return round.run()
}

private struct Round {
  private let html: Bytes
  private let isCutOff: Bool
  private var tag: XMLTag
  private var result: [UInt8] = []
  /// The strings that were not found before the end, and so are not searched for again.
  private var missing: Set<Int> = []
  private static let silent: [StaticString] = [
    "script", "style", "head", "template", "iframe", "noframes", "xmp", "textarea",
  ]

  init(_ html: Bytes, isCutOff: Bool) {
    self.html = html
    self.isCutOff = isCutOff
    tag = XMLTag(bytes: html, isXML: false)
    result.reserveCapacity(html.count)
  }

  mutating func run() -> [UInt8] {
    var index = 0
    while index < html.count {
      let next = html.firstIndex(of: UInt8(ascii: "<"), from: index, to: html.count) ?? html.count
      Entities.append(html.part(index, next), to: &result)
      guard next < html.count else { break }
      if let end = skipMarkup(at: next) {
        index = end
      } else if isCutOff, isUnfinished(at: next) {
        break
      } else {
        result.append(UInt8(ascii: "<"))
        index = next + 1
      }
    }
    return result
  }

  /// Skips the markup that begins with the `<` at `start`; `nil` when it is text.
  private mutating func skipMarkup(at start: Int) -> Int? {
    guard start + 1 < html.count else { return nil }
    switch html[start + 1] {
    case UInt8(ascii: "!"), UInt8(ascii: "?"):
      return html.starts(with: "<!--", at: start) ? find("-->", from: start, as: -1) : find(">", from: start, as: -2)
    case UInt8(ascii: "/") where start + 2 < html.count && html[start + 2].isLetter:
      guard let end = find(">", from: start, as: -2) else { return nil }
      appendBreak(after: html.part(start + 2, end - 1), to: &result)
      return end
    case let byte where byte.isLetter:
      guard let end = tag.readInHTML(at: start, attributes: 1024) else { return nil }
      appendBreak(after: tag.nameBytes, to: &result)
      return tag.isClosed ? end : skipContent(from: end)
    default: return nil
    }
  }

  /// True when the `<` at `start`, where ``skipMarkup(at:)`` has found no complete markup, begins a comment, or a tag
  /// that the end of the text cuts off.
  private func isUnfinished(at start: Int) -> Bool {
    let name = html.starts(with: "</", at: start) ? start + 2 : start + 1
    guard name < html.count, !html.starts(with: "<!--", at: start) else { return true }
    if name == start + 1, html[name].isLetter { return tag.isUnfinished }
    return (html[name].isLetter || html[name] == UInt8(ascii: "!") || html[name] == UInt8(ascii: "?"))
      && html.firstIndex(of: UInt8(ascii: "<"), from: start + 1, to: html.count) == nil
  }

  /// The end of the first `text` at or after `start`.
  private mutating func find(_ text: StaticString, from start: Int, as kind: Int) -> Int? {
    guard !missing.contains(kind) else { return nil }
    if let found = html.part(start, html.count).firstRange(of: text) {
      return start + found + text.utf8CodeUnitCount
    }
    missing.insert(kind)
    return nil
  }

  /// Skips the content of an element that shows no text. If there is no end tag, only the start tag is dropped.
  private mutating func skipContent(from start: Int) -> Int {
    guard let kind = Self.silent.firstIndex(where: { tag.nameBytes.equalsIgnoringCase($0) }), !missing.contains(kind)
    else { return start }
    var index = start
    while let end = html.part(index, html.count).firstRange(of: "</") {
      index += end + 2
      guard html.startsIgnoringCase(with: Self.silent[kind], at: index) else { continue }
      return html.firstIndex(of: UInt8(ascii: ">"), from: index, to: html.count).map { $0 + 1 } ?? html.count
    }
    missing.insert(kind)
    return isCutOff ? html.count : start
  }
}

/// Appends a space for a block element, because block elements separate words; other elements don't.
private func appendBreak(after name: Bytes, to result: inout [UInt8]) {
  let name = name.prefix { $0.isLetter || $0.isDigit }
  let inline: [StaticString] = [
    "a", "abbr", "acronym", "b", "bdi", "bdo", "big", "cite", "code", "del", "dfn", "em", "font", "i", "ins", "kbd",
    "mark", "q", "s", "samp", "small", "span", "strike", "strong", "sub", "sup", "time", "tt", "u", "var", "wbr",
  ]
  if !inline.contains(where: { Bytes(rebasing: name).equalsIgnoringCase($0) }) { result.append(UInt8(ascii: " ")) }
}

/// Breaks up text that could still be read as a tag or an entity.
private func withoutTags(_ text: Bytes) -> [UInt8] {
  var result: [UInt8] = []
  result.reserveCapacity(text.count)
  for index in 0..<text.count {
    result.append(text[index])
    guard index + 1 < text.count else { break }
    let next = text[index + 1]
    let beginsTag =
      text[index] == UInt8(ascii: "<")
      && (next.isLetter || next == UInt8(ascii: "/") || next == UInt8(ascii: "!") || next == UInt8(ascii: "?"))
    if beginsTag || text[index] == UInt8(ascii: "&") && Entities.resolve(text, at: index) != nil {
      result.append(UInt8(ascii: " "))
    }
  }
  return result
}

/// The text without control characters, and with each run of whitespace replaced by a single space.
private func line(_ text: Bytes) -> String {
  var result: [UInt8] = []
  result.reserveCapacity(text.count)
  var isSpaced = false
  var index = 0
  while index < text.count {
    let byte = text[index]
    index += 1
    // U+00A0 is a space. U+0080 to U+009F are control characters, but usually represent characters of windows-1252.
    if byte == 0xC2, index < text.count, text[index] <= 0xA0 {
      let scalar = Windows1252.scalar(text[index])
      isSpaced = isSpaced || text[index] == 0xA0
      index += 1
      guard scalar.value > 0xFF else { continue }
      if isSpaced, !result.isEmpty { result.append(UInt8(ascii: " ")) }
      isSpaced = false
      result.append(scalar)
      continue
    }
    if byte.isSpace {
      isSpaced = true
      continue
    }
    if byte &- 0xE1 < 3, text.hasLongSpace(at: index - 1) {
      isSpaced = true
      index += 2
      continue
    }
    if byte < 0x20 || byte == 0x7F { continue }
    if isSpaced, !result.isEmpty { result.append(UInt8(ascii: " ")) }
    isSpaced = false
    result.append(byte)
  }
  return String(decoding: result, as: UTF8.self)
}

extension UnsafeBufferPointer where Element == UInt8 {
  /// True for a space or a line break of three bytes at `index`: U+1680, U+2000 to U+200A, U+2028, U+2029, U+202F,
  /// U+205F, U+3000.
  @inline(__always)
  fileprivate func hasLongSpace(at index: Int) -> Bool {
    guard index + 2 < count else { return false }
    switch (self[index], self[index + 1], self[index + 2]) {
    case (0xE2, 0x80, 0x80...0x8A), (0xE2, 0x80, 0xA8...0xA9), (0xE2, 0x80, 0xAF), (0xE2, 0x81, 0x9F): return true
    case (0xE1, 0x9A, 0x80), (0xE3, 0x80, 0x80): return true
    default: return false
    }
  }
}

extension String {
  /// True when the text has a character that can be seen: not only spaces, control characters and characters such as
  /// U+200B and U+FEFF.
  package var hasVisibleCharacter: Bool {
    unicodeScalars.contains { scalar in
      if scalar.value <= 0x20 { return false }
      return scalar.value < 0x7F
        || !scalar.properties.isWhitespace && !scalar.properties.isDefaultIgnorableCodePoint
          && scalar.properties.generalCategory != .control
    }
  }
}
