extension String {
  /// The text with everything that a terminal or a log would interpret made visible: control characters, escape
  /// sequences, line breaks and marks that reorder text are written like `\u{1B}`.
  ///
  /// Use this for all text from outside: feeds, URLs, headers, and error messages of other libraries. The joiners that
  /// emoji and several scripts need are kept.
  public var printable: String {
    // Nearly all text is harmless and is returned unchanged, without a copy.
    guard let first = unicodeScalars.firstIndex(where: \.isActedUpon) else { return self }
    var result = Array(utf8[..<first])
    for scalar in unicodeScalars[first...] {
      if scalar.isActedUpon {
        result += "\\u{".utf8
        result.appendHexadecimal(scalar.value)
        result.append(UInt8(ascii: "}"))
      } else {
        result += UTF8.encode(scalar)!
      }
    }
    return String(decoding: result, as: UTF8.self)
  }

  /// ``printable``, truncated after `limit` Unicode scalars.
  public func printable(limit: Int) -> String {
    // Cut before escaping, so that megabytes of hostile text cost nothing.
    guard
      let end = unicodeScalars.index(unicodeScalars.startIndex, offsetBy: limit, limitedBy: unicodeScalars.endIndex),
      end < unicodeScalars.endIndex
    else { return printable }
    return String(unicodeScalars[..<end]).printable + "…"
  }
}

extension [UInt8] {
  /// Appends a number in hexadecimal capitals, with a minimum number of digits.
  package mutating func appendHexadecimal(_ number: UInt32, digits: Int = 1) {
    let needed = Swift.max(digits, (35 - number.leadingZeroBitCount) / 4)
    for place in (0..<needed).reversed() {
      let digit = UInt8(truncatingIfNeeded: number >> UInt32(4 * place)) & 0xF
      append(digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "A") - 10 + digit)
    }
  }
}

extension Unicode.Scalar {
  /// True when a terminal or a log would interpret the character.
  package var isActedUpon: Bool {
    switch value {
    case 0x20..<0x7F: return false
    case ..<0xA0: return true
    case 0x200C, 0x200D: return false
    case 0xE0020...0xE007F: return false  // tags: invisible, and part of the flags of England, Scotland and Wales
    default: break
    }
    switch properties.generalCategory {
    case .control, .format, .lineSeparator, .paragraphSeparator, .privateUse, .surrogate, .unassigned: return true
    default: return false
    }
  }
}
