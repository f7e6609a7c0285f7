/// The encoding of a document, as determined from its first kilobyte.
enum EncodingChoice {
  /// An encoding that is certain because of a byte order mark or a pattern of zeros. `skipped` is the length of the
  /// mark.
  case certain(name: String, iconv: String?, skipped: Int)
  /// A declared 7-bit encoding, which would pass every check for UTF-8.
  case sevenBit(name: String)
  /// UTF-8 as long as the bytes are valid; otherwise, the declared encoding.
  case utf8Unless(name: String)
  /// UTF-8, with each invalid byte read as windows-1252.
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

  /// The name to use for an ASCII-compatible legacy encoding; `nil` for all other encodings.
  private static func legacy(_ label: String) -> String? {
    guard !label.isEmpty, !["utf", "ucs", "unicode", "ascii", "us-ascii", "iso-10646"].contains(where: label.hasPrefix)
    else { return nil }
    let name = aliases[label] ?? codePage(label) ?? label.uppercased().split(separator: "_").joined(separator: "-")
    if name == windows1252 { return name }
    // The declaration was read as ASCII, so an encoding in which these bytes mean something else can't be right.
    let sample: [UInt8] = Array("<?xml &;\"'=/>az09".utf8)
    var converted: [UInt8] = []
    guard let iconv = Iconv(name), sample.withBytes({ iconv.append($0, isLast: true, to: &converted) }),
      converted == sample
    else { return nil }
    return name
  }

  /// The name for labels such as `cp1251`, `x-cp1251` and `win-1251`.
  private static func codePage(_ label: String) -> String? {
    guard label.hasPrefix("win") || label.hasPrefix("cp") || label.hasPrefix("x-cp"), let digit = label.last,
      label.dropLast().hasSuffix("125"), ("0"..."8").contains(digit)
    else { return nil }
    return digit == "2" ? windows1252 : "WINDOWS-125\(digit)"
  }

  /// The encodings that these names mean on the web (WHATWG Encoding Standard, section 4.2), if glibc doesn't support
  /// the name or uses it for a different encoding.
  private static let aliases: [String: String] = {
    let names = [
      (windows1252, "iso-8859-1 iso8859-1 iso88591 latin1 latin-1 l1 csisolatin1 ibm819 cp819 iso-ir-100 iso_8859-1"),
      ("windows-1254", "iso-8859-9 iso8859-9 iso88599 iso_8859-9 latin5 latin-5 l5 csisolatin5 iso-ir-148"),
      ("ISO-8859-8", "iso-8859-8-i iso-8859-8-e logical visual"),
      ("ISO-8859-6", "iso-8859-6-i iso-8859-6-e"),
      ("CP874", "iso-8859-11 iso8859-11 iso885911 tis-620 windows-874 dos-874"),
      ("GB18030", "gb2312 gb-2312 gb_2312 gb_2312-80 gbk x-gbk cp936 ms936 windows-936 chinese csgb2312 iso-ir-58"),
      ("BIG5-HKSCS", "big5 big-5 big5-hkscs cn-big5 x-x-big5 csbig5 cp950"),
      ("CP932", "shift_jis shift-jis shiftjis sjis x-sjis ms_kanji ms932 windows-31j csshiftjis"),
      ("EUC-JP", "x-euc-jp eucjp x-euc ujis cseucpkdfmtjapanese"),
      ("CP949", "euc-kr euckr ks_c_5601-1987 ks_c_5601-1989 ksc5601 ksc_5601 korean windows-949 uhc cseuckr"),
      ("KOI8-R", "koi8 koi cskoi8r"), ("KOI8-U", "koi8-ru"),
      ("MACINTOSH", "macroman mac x-mac-roman mac-roman csmacintosh"), ("MAC-UK", "x-mac-cyrillic x-mac-ukrainian"),
      ("MAC-CENTRALEUROPE", "x-mac-ce mac-centraleurope maccentraleurope maclatin2"), ("CP861", "cp-is cp_is csibm861"),
    ]
    return Dictionary(
      uniqueKeysWithValues: names.flatMap { name, labels in labels.split(separator: " ").map { (String($0), name) } })
  }()

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

/// The name in lower case, with only the characters that the name of an encoding may have, so that a document can't
/// choose glibc's `//IGNORE`.
private func normalized(_ label: String) -> String {
  String(
    decoding: label.utf8.prefix(64).prefix { $0 != UInt8(ascii: ":") }.filter {
      $0.isLetter || $0.isDigit || $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: "_") || $0 == UInt8(ascii: ".")
    }.map(\.lowercased), as: UTF8.self)
}
