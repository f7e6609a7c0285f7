import FeedFormats
import Glibc
import TestSupport
import Testing

@Suite(.settled) struct EncodingTests {
  private func feed(_ title: String, encoding: String? = nil) -> String {
    "<?xml version=\"1.0\"\(encoding.map { " encoding=\"\($0)\"" } ?? "")?><rss><channel><item><title>\(title)</title>"
      + "<link>https://e.com/1</link></item></channel></rss>"
  }

  private func encoded(_ text: String, as encoding: String) -> [UInt8] {
    let converter = iconv_open(encoding, "UTF-8")!
    defer { iconv_close(converter) }
    var input = Array(text.utf8).map(CChar.init(bitPattern:))
    var output = [CChar](repeating: 0, count: input.count * 8)
    let room = output.count
    let written = input.withUnsafeMutableBufferPointer { input in
      output.withUnsafeMutableBufferPointer { output in
        var (from, left) = (input.baseAddress, input.count)
        var (to, free) = (output.baseAddress, room)
        let result = iconv(converter, &from, &left, &to, &free)
        precondition(result != -1 && iconv(converter, nil, nil, &to, &free) != -1)
        return room - free
      }
    }
    return output[..<written].map(UInt8.init(bitPattern:))
  }

  private func expect(
    _ bytes: [UInt8], charset: String? = nil, title: String, encoding: String,
    sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    let document = try read(bytes: bytes, charset: charset)
    #expect(document.items.map { $0.title?.value } == [title], sourceLocation: sourceLocation)
    #expect(document.encoding == encoding, sourceLocation: sourceLocation)
  }

  static let legacy: [(declared: String, actual: String, title: String, name: String)] = [
    ("iso-8859-1", "CP1252", "café “x”", "windows-1252"), ("ISO-8859-2", "ISO-8859-2", "Łódź", "ISO-8859-2"),
    ("windows-1251", "CP1251", "Привет, мир", "WINDOWS-1251"), ("windows_1251", "CP1251", "Привет", "WINDOWS-1251"),
    ("KOI8-R", "KOI8-R", "Привет", "KOI8-R"), ("Shift_JIS", "CP932", "日本語ソ表", "CP932"),
    ("EUC-JP", "EUC-JP", "日本語", "EUC-JP"), ("gb2312", "GB18030", "中文网页", "GB18030"),
    ("big5", "BIG5-HKSCS", "中文功許", "BIG5-HKSCS"), ("euc-kr", "CP949", "한국어", "CP949"),
    ("x-cp1251", "CP1251", "Привет", "WINDOWS-1251"), ("win-1250", "CP1250", "Łódź", "WINDOWS-1250"),
    ("cp-1252", "CP1252", "“x” café", "windows-1252"), ("iso-8859-8-i", "ISO-8859-8", "שלום", "ISO-8859-8"),
    ("latin5", "CP1254", "İstanbul’da", "windows-1254"), ("ks_c_5601-1989", "CP949", "한국어", "CP949"),
    ("ISO_8859-1:1987", "CP1252", "café “x”", "windows-1252"), ("koi8", "KOI8-R", "Привет", "KOI8-R"),
  ]

  @Test(arguments: legacy) func `a declared legacy encoding is used, except for valid UTF-8`(
    declared: String, actual: String, title: String, name: String
  ) throws {
    try expect(encoded(feed(title, encoding: declared), as: actual), title: title, encoding: name)
    try expect(encoded(feed(title), as: actual), charset: declared, title: title, encoding: name)
    // Valid UTF-8 is read as UTF-8, whatever is declared.
    try expect(Array(feed(title, encoding: declared).utf8), title: title, encoding: "UTF-8")
    try expect(Array(feed(title).utf8), charset: declared, title: title, encoding: "UTF-8")
  }

  @Test func `a declared 7-bit encoding is used even though the bytes are valid UTF-8`() throws {
    let bytes = encoded(feed("日本語 & x", encoding: "ISO-2022-JP"), as: "ISO-2022-JP")
    try expect(bytes, title: "日本語 & x", encoding: "ISO-2022-JP")
  }

  @Test(arguments: ["UTF-16LE", "UTF-16BE", "UTF-32LE", "UTF-32BE"])
  func `UTF-16 and UTF-32 are recognized with and without a byte order mark`(encoding: String) throws {
    let name = String(encoding.prefix(6))
    try expect(encoded("\u{FEFF}" + feed("é 😀"), as: encoding), title: "é 😀", encoding: name)
    try expect(encoded(feed("é 😀"), as: encoding), title: "é 😀", encoding: name)
  }

  @Test(arguments: ["UTF-16LE", "UTF-16BE", "UTF-32LE", "UTF-32BE"])
  func `half of a surrogate pair doesn't damage the text after it`(encoding: String) throws {
    // The half takes the place of a character that takes up one code unit.
    let half: [UInt8] = encoding.hasSuffix("LE") ? [0x3D, 0xD8] : [0xD8, 0x3D]
    let unit = encoded("~", as: encoding).count
    let padding = [UInt8](repeating: 0, count: unit - 2)
    var bytes = encoded("\u{FEFF}" + feed("a~é"), as: encoding)
    let place = try #require(
      stride(from: 0, to: bytes.count, by: unit).first { bytes[$0..<$0 + unit].contains(0x7E) })
    bytes.replaceSubrange(place..<place + unit, with: encoding.hasSuffix("LE") ? half + padding : padding + half)
    try expect(bytes, title: "a\u{FFFD}é", encoding: String(encoding.prefix(6)))
    #expect(try !read(bytes: bytes).isCutOff)
  }

  @Test func `the document's declared encoding has precedence over the response's`() throws {
    let bytes = encoded(feed("Łódź", encoding: "ISO-8859-2"), as: "ISO-8859-2")
    try expect(bytes, charset: "windows-1251", title: "Łódź", encoding: "ISO-8859-2")
  }

  @Test func `a byte order mark has precedence over every declaration`() throws {
    try expect(
      Array(("\u{FEFF}" + feed("é", encoding: "ISO-8859-2")).utf8), charset: "KOI8-R", title: "é", encoding: "UTF-8")
  }

  @Test func `single bytes that are invalid in UTF-8 are read as windows-1252`() throws {
    var bytes = Array(feed("é~").utf8)
    bytes[bytes.firstIndex(of: 0x7E)!] = 0x80
    try expect(bytes, title: "é€", encoding: "UTF-8")
    bytes = feed("~!").utf8.map { $0 == 0x7E ? 0xE9 : $0 }
    try expect(bytes, title: "é!", encoding: "windows-1252")
  }

  @Test func `mostly windows-1252 text is read as windows-1252, even if parts of it are valid UTF-8`() throws {
    // In windows-1252, the bytes of `é »` and `É»` are also valid UTF-8.
    let title = "réaliser le portrait d'un enfant « doué\u{A0}» à « CAFÉ»"
    try expect(encoded(feed(title), as: "CP1252"), title: title, encoding: "windows-1252")
    try expect(encoded(feed(title, encoding: "utf-8"), as: "CP1252"), title: title, encoding: "windows-1252")
    try expect(encoded(feed(title, encoding: "iso-8859-1"), as: "CP1252"), title: title, encoding: "windows-1252")
  }

  @Test(arguments: [nil, "iso-8859-1", "utf-8"])
  func `mostly UTF-8 text keeps its UTF-8, and a few other bytes are read as windows-1252`(declared: String?) throws {
    let title = "besøge, Brøndby, Ødegård, ærø, Ålborg ~"
    let bytes = feed(title, encoding: declared).utf8.map { $0 == 0x7E ? 0xF8 : $0 }
    try expect(bytes, title: title.replacing("~", with: "ø"), encoding: "UTF-8")
    let document = try read(bytes: bytes)
    #expect(document.repairs == ["bytes that are not UTF-8 were read as windows-1252"])
  }

  @Test func `the encoding of a long text is decided part by part`() throws {
    // First a little UTF-8, then much windows-1252, and then even more UTF-8.
    let filler = String(repeating: "a", count: 70_000)
    let bytes = Array(feed("~\(filler)\(String(repeating: "é", count: 40_000))~").utf8).map { $0 == 0x7E ? 0xE9 : $0 }
    let document = try FeedParser.document(of: bytes)
    #expect(document.items[0].title?.value == "é\(filler)\(String(repeating: "é", count: 40_001))")
    var parser = FeedParser()
    for start in stride(from: 0, to: bytes.count, by: 999) {
      try parser.feed(Array(bytes[start..<min(start + 999, bytes.count)]))
    }
    #expect(try parser.finish() == document)
  }

  @Test func `a long UTF-8 text with a wrongly declared encoding is read in linear time`() throws {
    let title = String(repeating: "é", count: 60_000)
    let document = try FeedParser.document(of: Array(feed(title, encoding: "windows-1251").utf8))
    #expect(document.items[0].title?.value == title)
    #expect(document.repairs == ["the text is UTF-8, but another encoding is declared"])
  }

  @Test func `the encoding doesn't depend on how the bytes are split`() throws {
    let rest = String(repeating: "a", count: 2_000)
    // First a UTF-8 character and later an invalid byte, and then the reverse.
    for bytes in [Array(feed("é\(rest)~").utf8), Array(feed("~\(rest)é").utf8)] {
      let document = try read(bytes: bytes.map { $0 == 0x7E ? 0xFF : $0 })
      #expect(document.encoding == "UTF-8")
    }
    // A document with a late declaration.
    _ = try read(bytes: Array((rest + feed("é")).utf8).map { $0 == 0xC3 ? 0xFF : $0 })
    // A text whose encoding would depend on the bytes after the first 64 KiB.
    let long = feed(String(repeating: "é", count: 40_000) + "~", encoding: "windows-1251")
    let bytes = Array(long.utf8).map { $0 == 0x7E ? 0xFF : $0 }
    let whole = try FeedParser.document(of: bytes)
    var parser = FeedParser()
    for start in stride(from: 0, to: bytes.count, by: 1_000) {
      try parser.feed(Array(bytes[start..<min(start + 1_000, bytes.count)]))
    }
    #expect(try parser.finish() == whole)
    #expect(whole.encoding == "UTF-8")
  }

  @Test(arguments: [nil, "ISO-8859-1", "windows-1251"], [false, true])
  func `a long feed is recognized after a comment that isn't ASCII`(declared: String?, isUTF8: Bool) throws {
    let items = String(repeating: "<item><title>Two</title></item>", count: 4_000)
    let text = feed("One", encoding: declared).replacing("?>", with: "?><!-- Généré -->")
      .replacing("</channel>", with: items + "</channel>")
    let bytes = isUTF8 ? Array(text.utf8) : text.unicodeScalars.map { UInt8($0.value) }
    for size in [999, 4_096, 1 << 16, bytes.count] {
      var parser = FeedParser()
      for start in stride(from: 0, to: bytes.count, by: size) {
        try parser.feed(Array(bytes[start..<min(start + size, bytes.count)]))
      }
      #expect(try parser.finish().items.count == 4_001)
    }
  }

  @Test func `an invalid encoding name isn't passed to iconv`() throws {
    for name in ["//TRANSLIT", "x//IGNORE", "../../etc", String(repeating: "a", count: 500)] {
      try expect(Array(feed("é", encoding: name).utf8), charset: name, title: "é", encoding: "UTF-8")
    }
  }
}
