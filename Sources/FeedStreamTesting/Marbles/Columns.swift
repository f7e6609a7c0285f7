extension Character {
  /// The number of terminal columns that the character takes: two for East Asian scripts and emoji, approximately as in
  /// Unicode Standard Annex #11.
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
  /// The number of terminal columns that the text takes, on one line.
  var columns: Int { reduce(0) { $0 + $1.columns } }

  /// The text on one line. Line breaks and characters that can't be drawn are escaped as in Swift source: `two\nlines`.
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
  /// True for control characters, line separators, and the noncharacters that XML doesn't allow.
  fileprivate var isUndrawable: Bool {
    switch properties.generalCategory {
    case .control, .lineSeparator, .paragraphSeparator: true
    default: value == 0xFFFE || value == 0xFFFF
    }
  }
}
