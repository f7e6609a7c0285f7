extension String {
  /// The text with whatever a terminal or a log would act upon made visible: control characters, escape sequences, line
  /// breaks and marks that reorder text are written as `\u{1B}`.
  ///
  /// For every text that came from outside: feeds, addresses, headers, error texts of other libraries. The joiners that
  /// emoji and several scripts need are kept.
  public var printable: String {
    // Nearly every text is harmless: it is returned as it is, without a copy.
    guard unicodeScalars.contains(where: \.isActedUpon) else { return self }
    var result = ""
    for scalar in unicodeScalars {
      if scalar.isActedUpon {
        result += "\\u{\(String(scalar.value, radix: 16, uppercase: true))}"
      } else {
        result.unicodeScalars.append(scalar)
      }
    }
    return result
  }

  /// ``printable``, and cut after `limit` characters.
  public func printable(limit: Int) -> String {
    // Cut before escaping, so that a hostile text of megabytes costs nothing.
    guard
      let end = unicodeScalars.index(unicodeScalars.startIndex, offsetBy: limit, limitedBy: unicodeScalars.endIndex),
      end < unicodeScalars.endIndex
    else { return printable }
    return String(unicodeScalars[..<end]).printable + "…"
  }
}

extension Unicode.Scalar {
  fileprivate var isActedUpon: Bool {
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
