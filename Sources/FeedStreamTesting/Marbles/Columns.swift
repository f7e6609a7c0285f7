extension Character {
  /// The number of terminal columns it takes: two for the scripts of East Asia and for emoji, approximately as in
  /// Unicode's annex 11.
  var columns: Int {
    guard let scalar = unicodeScalars.first else { return 0 }
    if scalar.properties.isEmojiPresentation { return 2 }
    switch scalar.value {
    case 0x1100...0x115F, 0x2E80...0xA4CF, 0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE30...0xFE6F, 0xFF00...0xFF60,
      0xFFE0...0xFFE6, 0x20000...0x3FFFD:
      return 2
    default: return 1
    }
  }
}

extension String {
  /// The number of terminal columns it takes, on one line.
  var columns: Int { reduce(0) { $0 + $1.columns } }

  /// The text on one line: characters that would break it, or cannot be drawn, are escaped as in Swift's source:
  /// `two\nlines`.
  var onOneLine: String {
    guard unicodeScalars.contains(where: \.isUndrawable) else { return self }
    var line = ""
    for scalar in unicodeScalars {
      switch scalar {
      case "\n": line += "\\n"
      case "\r": line += "\\r"
      case "\t": line += "\\t"
      case _ where scalar.isUndrawable: line += "\\u{\(String(scalar.value, radix: 16))}"
      default: line.unicodeScalars.append(scalar)
      }
    }
    return line
  }

  func padded(to width: Int, with character: Character = " ") -> String {
    self + String(repeating: character, count: max(0, width - columns))
  }

  var trimmed: String {
    var copy = self
    while copy.last == " " { copy.removeLast() }
    return copy
  }
}

extension Unicode.Scalar {
  /// True when it is a control character or ends a line; noncharacters are not allowed in XML.
  fileprivate var isUndrawable: Bool {
    switch properties.generalCategory {
    case .control, .lineSeparator, .paragraphSeparator: true
    default: value == 0xFFFE || value == 0xFFFF
    }
  }
}
