/// The encoding of a document, as far as its first kilobyte shows.
enum EncodingChoice {
  /// Certain, from a byte order mark or a pattern of zeros. `skipped` bytes are the mark.
  case certain(name: String, iconv: String?, skipped: Int)
  /// A declared 7-bit encoding, which would pass every check for UTF-8.
  case sevenBit(name: String)
  /// UTF-8 as long as the bytes are valid, else the declared encoding.
  case utf8Unless(name: String)
  /// UTF-8, with each invalid byte as windows-1252.
  case utf8

  /// - Parameter charset: the charset of the response's type.
  init(head: Bytes, charset: String?) {
    if let certain = Self.marked(head) {
      self = certain
      return
    }
    for label in [declared(in: head), charset.map(normalized)] {
      guard let label else { continue }
      if Self.sevenBitNames.contains(where: { label.hasPrefix($0) }) {
        self = .sevenBit(name: label)
        return
      }
      if let name = Self.legacy(label) {
        self = .utf8Unless(name: name)
        return
      }
    }
    self = .utf8
  }

  private static func marked(_ head: Bytes) -> EncodingChoice? {
    let first = (0..<4).map { $0 < head.count ? Int(head[$0]) : -1 }
    switch (first[0], first[1], first[2], first[3]) {
    case (0xEF, 0xBB, 0xBF, _): return .certain(name: "UTF-8", iconv: nil, skipped: 3)
    case (0xFF, 0xFE, 0, 0): return .certain(name: "UTF-32", iconv: "UTF-32LE", skipped: 4)
    case (0, 0, 0xFE, 0xFF): return .certain(name: "UTF-32", iconv: "UTF-32BE", skipped: 4)
    case (0xFF, 0xFE, _, _): return .certain(name: "UTF-16", iconv: "UTF-16LE", skipped: 2)
    case (0xFE, 0xFF, _, _): return .certain(name: "UTF-16", iconv: "UTF-16BE", skipped: 2)
    case (1..., 0, 0, 0): return .certain(name: "UTF-32", iconv: "UTF-32LE", skipped: 0)
    case (0, 0, 0, 1...): return .certain(name: "UTF-32", iconv: "UTF-32BE", skipped: 0)
    case (1..., 0, 1..., 0): return .certain(name: "UTF-16", iconv: "UTF-16LE", skipped: 0)
    case (0, 1..., 0, 1...): return .certain(name: "UTF-16", iconv: "UTF-16BE", skipped: 0)
    // `<?xm` in EBCDIC.
    case (0x4C, 0x6F, 0xA7, 0x94): return .certain(name: "EBCDIC", iconv: "IBM037", skipped: 0)
    default: return nil
    }
  }

  private static let sevenBitNames = ["iso-2022-", "utf-7", "hz"]

  /// The name to use for a legacy encoding that contains ASCII; `nil` for Unicode's own and for unknown ones.
  private static func legacy(_ label: String) -> String? {
    // What the web means by these names (WHATWG Encoding Standard, section 4.2).
    let aliases = [
      "iso-8859-1": windows1252, "iso8859-1": windows1252, "latin1": windows1252, "latin-1": windows1252,
      "l1": windows1252, "cp1252": windows1252, "iso_8859-1": windows1252, "windows-1252": windows1252,
      "iso-8859-9": "windows-1254", "iso-8859-11": "CP874", "tis-620": "CP874", "windows-874": "CP874",
      "gb2312": "GB18030", "gbk": "GB18030", "gb_2312-80": "GB18030", "x-gbk": "GB18030", "big5": "BIG5-HKSCS",
      "big5-hkscs": "BIG5-HKSCS", "shift_jis": "CP932", "shift-jis": "CP932", "sjis": "CP932", "x-sjis": "CP932",
      "windows-31j": "CP932", "euc-kr": "CP949", "ks_c_5601-1987": "CP949", "windows-949": "CP949",
      "x-euc-jp": "EUC-JP",
      "macroman": "MACINTOSH", "x-mac-roman": "MACINTOSH", "mac-roman": "MACINTOSH",
    ]
    guard !label.isEmpty, !["utf", "ucs", "unicode", "ascii", "us-ascii", "iso-10646"].contains(where: label.hasPrefix)
    else { return nil }
    let name = aliases[label] ?? label.uppercased().split(separator: "_").joined(separator: "-")
    if name == windows1252 { return name }
    // The head was read as ASCII, so an encoding in which it means something else is wrong.
    let sample: [UInt8] = Array("<?xml &;\"'=/>az09".utf8)
    var converted: [UInt8] = []
    guard let iconv = Iconv(name), sample.withBytes({ iconv.append($0, isLast: true, to: &converted) }),
      converted == sample
    else { return nil }
    return name
  }

  static let windows1252 = "windows-1252"
}

/// The encoding in the XML declaration, which may follow junk.
private func declared(in head: Bytes) -> String? {
  guard let start = head.firstRange(of: "<?xml"),
    let end = head.firstIndex(of: UInt8(ascii: ">"), from: start, to: head.count)
  else { return nil }
  let declaration = head.part(start, end)
  guard let name = declaration.firstRange(of: "encoding") else { return nil }
  let value = declaration.part(name + 8, declaration.count).drop { $0.isSpace || $0 == UInt8(ascii: "=") }
  guard let quote = value.first, quote == UInt8(ascii: "\"") || quote == UInt8(ascii: "'") else { return nil }
  return normalized(String(decoding: value.dropFirst().prefix { $0 != quote }, as: UTF8.self))
}

/// In lower case, with only the characters that the name of an encoding may have: a document must not be able to choose
/// glibc's `//IGNORE`.
private func normalized(_ label: String) -> String {
  String(
    decoding: label.utf8.prefix(64).filter {
      $0.isLetter || $0.isDigit || $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: "_") || $0 == UInt8(ascii: ".")
    }.map(\.lowercased), as: UTF8.self)
}
