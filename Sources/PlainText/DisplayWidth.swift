extension Character {
  /// The number of columns that the character takes up: 0 or more.
  ///
  /// Characters that Unicode classifies as wide (UAX #11, W and F) take up 2, and so do emoji, even in sequences.
  /// Combining marks, joiners and control characters take up no columns. A character of several letters, such as a
  /// Hindi conjunct, takes up the columns of all of them.
  public var columns: Int {
    // Nearly every character is ASCII.
    if let ascii = asciiValue { return ascii >= 0x20 && ascii < 0x7F ? 1 : 0 }
    let scalars = unicodeScalars
    // A sequence of emoji is drawn as one: with joiners, skin tones or the emoji selector, or as a flag.
    if scalars.count > 1, scalars.first?.properties.isEmoji == true, scalars.contains(where: \.joinsEmoji) { return 2 }
    return scalars.reduce(0) { $0 + $1.columns }
  }
}

extension StringProtocol {
  /// The number of columns that the text takes up; colors take up none.
  public var columns: Int {
    var (total, rest) = (0, self[...])
    while let first = rest.first {
      if let end = rest.endOfColor {
        rest = rest[end...]
      } else {
        total += first.columns
        rest = rest.dropFirst()
      }
    }
    return total
  }
}

extension StringProtocol {
  /// The end of the color sequence at the beginning of the text: `ESC [ 3 1 m`.
  var endOfColor: Index? {
    // Compare bytes: a mark after the sequence would make one character with the `m`.
    let bytes = utf8
    guard bytes.first == 0x1B else { return nil }
    let parameters = bytes.dropFirst()
    guard parameters.first == UInt8(ascii: "[") else { return nil }
    let end = parameters.dropFirst().firstIndex { !(0x30...0x39 ~= $0) && $0 != UInt8(ascii: ";") }
    guard let end, bytes[end] == UInt8(ascii: "m") else { return nil }
    return bytes.index(after: end)
  }
}

extension Unicode.Scalar {
  /// The width: 0, 1 or 2.
  fileprivate var columns: Int {
    switch value {
    case 0x00..<0x20, 0x7F..<0xA0: return 0
    case 0x1160...0x11FF, 0xD7B0...0xD7FF: return 0  // Hangul vowels and final consonants are drawn in their syllable
    case 0x1100...0x115F, 0x2329...0x232A, 0x2E80...0x303E, 0x3041...0x4DBF, 0x4E00...0xA4CF, 0xA960...0xA97C,
      0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE10...0xFE19, 0xFE30...0xFE6F, 0xFF01...0xFF60, 0xFFE0...0xFFE6,
      0x16FE0...0x18D08, 0x1AFF0...0x1B2FB, 0x1F200...0x1F265, 0x20000...0x3FFFD:
      return isMark ? 0 : 2
    default: return isMark ? 0 : properties.isEmojiPresentation ? 2 : 1
    }
  }

  fileprivate var joinsEmoji: Bool {
    switch value {
    case 0x200D, 0xFE0F, 0x1F3FB...0x1F3FF, 0x1F1E6...0x1F1FF: true
    default: false
    }
  }

  private var isMark: Bool {
    switch properties.generalCategory {
    case .nonspacingMark, .enclosingMark, .format: true
    default: false
    }
  }
}
