/// The repairs that a document needed.
struct Repairs: OptionSet, Sendable {
  let rawValue: UInt32

  static let notUTF8 = Repairs(rawValue: 1 << 0)
  static let declaredEncoding = Repairs(rawValue: 1 << 1)
  static let badCharacters = Repairs(rawValue: 1 << 2)
  static let zeros = Repairs(rawValue: 1 << 3)
  static let junkBefore = Repairs(rawValue: 1 << 4)
  static let ampersand = Repairs(rawValue: 1 << 5)
  static let lessThan = Repairs(rawValue: 1 << 6)
  static let attribute = Repairs(rawValue: 1 << 7)
  static let unclosed = Repairs(rawValue: 1 << 8)
  static let strayEnd = Repairs(rawValue: 1 << 9)
  static let cdata = Repairs(rawValue: 1 << 10)
  static let cutOff = Repairs(rawValue: 1 << 11)
  static let prefix = Repairs(rawValue: 1 << 12)
  static let noRoot = Repairs(rawValue: 1 << 13)
  static let images = Repairs(rawValue: 1 << 14)
  static let jsonShape = Repairs(rawValue: 1 << 15)
  static let jsonVersion = Repairs(rawValue: 1 << 16)
  static let doctype = Repairs(rawValue: 1 << 17)
  static let comma = Repairs(rawValue: 1 << 18)

  private static let texts: [(Repairs, String)] = [
    (.notUTF8, "bytes that are not UTF-8 were read as windows-1252"),
    (.declaredEncoding, "the text is UTF-8, but another encoding is declared"),
    (.badCharacters, "bytes that are invalid in the encoding were replaced"),
    (.zeros, "NUL bytes were dropped"),
    (.junkBefore, "text before the feed was skipped"),
    (.doctype, "a document type declaration was skipped"),
    (.noRoot, "the root element is missing"),
    (.prefix, "a namespace prefix is not declared"),
    (.ampersand, "an & that doesn't begin an entity was kept as text"),
    (.lessThan, "a < that doesn't begin a tag was kept as text"),
    (.attribute, "an attribute has no quotes, or appears twice"),
    (.unclosed, "an element was not closed"),
    (.strayEnd, "an end tag has no start tag"),
    (.cdata, "a CDATA section was not closed"),
    (.comma, "a trailing comma was skipped"),
    (.cutOff, "the document is cut off"),
    (.images, "an item refers to more images than the limit allows"),
    (.jsonVersion, "the version of JSON Feed is missing"),
    (.jsonShape, "a value of an unexpected type was skipped"),
  ]

  var sentences: [String] { Self.texts.filter { contains($0.0) }.map(\.1) }
}
