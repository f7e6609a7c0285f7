/// Reads a JSON document of either format.
enum JSONDocument {
  static func read(_ bytes: [UInt8], address: String?, limits: FeedLimits) throws(FeedFormatError) -> FeedDocument {
    if let document = try parse(bytes, address: address, limits: limits) { return document }
    // Not certainly JSON: a JSON Feed in another encoding or with mistakes, a document for the case study's decoder, or
    // an error.
    let (text, encoding, repairs) = repaired(bytes)
    if var document = try parse(text, address: address, limits: limits), document.format != .caseStudy {
      document.encoding = encoding
      document.repairs += repairs.sentences
      return document
    }
    return document(
      of: CaseStudyFeed.Images(try CaseStudyOracle.images(in: bytes, maxValues: limits.values)), encoding: encoding)
  }

  /// `nil` for a document that is not certainly valid.
  private static func parse(
    _ bytes: [UInt8], address: String?, limits: FeedLimits
  ) throws(FeedFormatError) -> FeedDocument? {
    let read = try JSONTape.parse(bytes) { tape throws(FeedFormatError) -> FeedDocument? in
      guard tape.words <= 2 * limits.values || !bytes.withUnsafeBytes({ $0.holdsMoreJSONValues(than: limits.values) })
      else { throw .tooManyValues(limit: limits.values) }
      if JSONFeedReader.recognizes(tape.root) {
        var reader = JSONFeedReader(address: address, limits: limits)
        return try reader.read(tape.root)
      }
      return CaseStudyFeed.images(in: tape, ofBytes: bytes.count).map { document(of: $0, encoding: "UTF-8") }
    }
    return read ?? nil
  }

  private static func document(of images: CaseStudyFeed.Images, encoding: String) -> FeedDocument {
    let items = images.map { image in
      var item = FeedItem()
      item.guid = image.identity.text
      item.summary = image.description.map { FeedText($0.string, isMarkup: false) }
      item.location = image.location.map { FeedPlace(name: $0.string) }
      item.images = [FeedImageCandidate(address: image.address.string, source: .image)]
      item.chosenImage = 0
      return item
    }
    return FeedDocument(format: .caseStudy, encoding: encoding, items: items)
  }

  /// The document as UTF-8, with the usual mistakes in strings repaired: invalid UTF-8, control characters, halves of
  /// surrogate pairs.
  private static func repaired(_ bytes: [UInt8]) -> (text: [UInt8], encoding: String, repairs: Repairs) {
    var text: [UInt8] = []
    var decoder = TextDecoder(charset: nil)
    bytes.withBytes { decoder.decode($0, isLast: true, to: &text) }
    var repairs = decoder.repairs
    var isInString = false
    var index = 0
    while index < text.count {
      switch text[index] {
      case UInt8(ascii: "\""): isInString.toggle()
      case UInt8(ascii: "\\") where isInString:
        if !repairEscape(&text, at: index) { repairs.insert(.badCharacters) }
        index += 1
      case ..<0x20 where isInString:
        text[index] = 0x20
        repairs.insert(.badCharacters)
      default: break
      }
      index += 1
    }
    return (text, decoder.encoding, repairs)
  }

  /// Replaces half a surrogate pair with U+FFFD; false if there was one.
  private static func repairEscape(_ text: inout [UInt8], at start: Int) -> Bool {
    guard let unit = unit(text, at: start), unit & 0xF800 == 0xD800 else { return true }
    if unit < 0xDC00, let second = self.unit(text, at: start + 6), second & 0xFC00 == 0xDC00 { return true }
    if unit >= 0xDC00, start >= 6, let first = self.unit(text, at: start - 6), first & 0xFC00 == 0xD800 { return true }
    text.replaceSubrange(start + 2..<start + 6, with: "FFFD".utf8)
    return false
  }

  /// The code unit of `\uXXXX`.
  private static func unit(_ text: [UInt8], at index: Int) -> UInt16? {
    guard index + 6 <= text.count, text[index] == UInt8(ascii: "\\"), text[index + 1] == UInt8(ascii: "u") else {
      return nil
    }
    var unit: UInt16 = 0
    for digit in text[index + 2..<index + 6] {
      guard let value = digit.hexadecimalValue else { return nil }
      unit = unit << 4 | UInt16(value)
    }
    return unit
  }
}
