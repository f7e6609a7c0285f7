extension String {
  /// The text with lines of at most `columns` columns, broken at spaces and between wide characters.
  ///
  /// A continued line is indented to the start of its text: after its leading spaces, its number (`12. `) or its label
  /// (`server: `). A word that is longer than a line is broken anywhere, but a URL, which users may want to copy, is
  /// left whole. Colors are kept and take up no columns.
  ///
  /// - Parameter columns: at least 20.
  public func wrapped(to columns: Int) -> String {
    precondition(columns >= 20, "wrapped: \(columns) columns are too few; use 20 or more")
    // Text never has more columns than bytes.
    return split(separator: "\n", omittingEmptySubsequences: false).map { line in
      line.utf8.count <= columns ? String(line) : Wrapping(line, to: columns).text
    }
    .joined(separator: "\n")
  }
}

private struct Wrapping {
  private let columns: Int
  private let margin: String
  private(set) var text = ""
  /// The number of columns in use on the last line.
  private var used = 0

  init(_ line: Substring, to columns: Int) {
    self.columns = columns
    let head = line.prefixOfEntry
    // Omit a margin that leaves too little room.
    let width = head.columns
    margin = width * 2 > columns ? "" : String(repeating: " ", count: width)
    text = String(head)
    used = width
    var rest = line[head.endIndex...]
    while !rest.isEmpty {
      let spaces = rest.prefix { $0 == " " }
      rest = rest[spaces.endIndex...]
      let word = rest.prefix { $0 != " " }
      rest = rest[word.endIndex...]
      append(word, after: spaces)
    }
  }

  private mutating func append(_ word: Substring, after spaces: Substring) {
    let width = word.columns
    if used + spaces.count + width <= columns {
      text += spaces + word
      used += spaces.count + width
    } else if width <= columns - margin.count, !word.contains(where: { $0.columns == 2 }) {
      breakLine()
      text += word
      used += width
    } else if word.contains("://") {
      if used > margin.count { breakLine() }
      text += word
      used += width
    } else {
      appendInParts(word, after: spaces)
    }
  }

  /// Appends a word that may be broken, either between wide characters or because it is longer than a line.
  private mutating func appendInParts(_ word: Substring, after spaces: Substring) {
    var rest = word
    let isWide = word.contains { $0.columns == 2 }
    if isWide, used + spaces.count + 2 <= columns {
      text += spaces
      used += spaces.count
    } else if used > margin.count {
      breakLine()
    }
    while let first = rest.first {
      if let end = rest.endOfColor {
        text += rest[..<end]
        rest = rest[end...]
        continue
      }
      let part = isWide ? rest.unbreakable : rest.prefix(1)
      let width = first.columns == 2 ? 2 : part.columns
      if used + width > columns, used > margin.count { breakLine() }
      if width > columns - margin.count {
        // The part itself is longer than a line.
        for character in part { append(character) }
      } else {
        text += part
        used += width
      }
      rest = rest[part.endIndex...]
    }
  }

  private mutating func append(_ character: Character) {
    if used + character.columns > columns { breakLine() }
    text.append(character)
    used += character.columns
  }

  private mutating func breakLine() {
    text += "\n" + margin
    used = margin.count
  }
}

extension Substring {
  /// The spaces, and the number or the label, at the beginning of a line.
  fileprivate var prefixOfEntry: Substring {
    let spaces = prefix { $0 == " " }
    var rest = self[spaces.endIndex...]
    let digits = rest.prefix { $0.isASCII && $0.isNumber }
    if !digits.isEmpty, self[digits.endIndex...].hasPrefix(". ") {
      return self[..<index(digits.endIndex, offsetBy: 2)]
    }
    guard !spaces.isEmpty else { return spaces }
    rest = rest.prefix { $0 != " " }
    guard rest.last == ":", rest.count < 12 else { return spaces }
    return self[..<self[rest.endIndex...].prefix { $0 == " " }.endIndex]
  }

  /// A wide character or an escape character, or all characters up to the next one. It isn't empty.
  fileprivate var unbreakable: Substring {
    guard let first, first.columns < 2, first != "\u{1B}" else { return prefix(1) }
    return prefix { $0.columns < 2 && $0 != "\u{1B}" }
  }
}
