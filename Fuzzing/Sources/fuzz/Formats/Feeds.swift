import FeedFormats

/// Checks that any document is a feed or an error, the same one however it is split into chunks; that a feed names only
/// http and https URLs; and that its plain texts are harmless.
func fuzzFeed(_ input: UnsafeBufferPointer<UInt8>) -> Int32 {
  let bytes = Array(input)
  let whole = parse(bytes, chunk: bytes.count)
  let chunk = 1 + Int(bytes.reduce(0) { $0 &* 31 &+ UInt32($1) } % 97)
  guard parse(bytes, chunk: chunk) == whole else { finding("another feed in chunks of \(chunk): \(whole)") }
  if case .success(let document) = whole { check(document, of: bytes) }
  var limits = FeedLimits()
  (limits.depth, limits.tagBytes, limits.attributes, limits.nameBytes) = (6, 80, 3, 12)
  (limits.textBytes, limits.items, limits.imagesPerItem, limits.values) = (60, 3, 2, 40)
  _ = parse(bytes, chunk: chunk, limits: limits)
  return 0
}

private func parse(
  _ bytes: [UInt8], chunk: Int, limits: FeedLimits = FeedLimits()
) -> Result<FeedDocument, FeedFormatError> {
  do throws(FeedFormatError) {
    // The number of bytes determines the response's charset.
    let charset: String? = bytes.count % 4 == 1 ? "shift_jis" : bytes.count % 4 == 2 ? "koi8-r" : nil
    var parser = FeedParser(address: "https://example.org/a/b?c", charset: charset, limits: limits)
    var index = 0
    while index < bytes.count {
      let end = min(bytes.count, index + max(1, chunk))
      try parser.feed(Array(bytes[index..<end]))
      index = end
    }
    return .success(try parser.finish())
  } catch {
    return .failure(error)
  }
}

private func check(_ document: FeedDocument, of bytes: [UInt8]) {
  guard document.items.count <= bytes.count / 2 else {
    finding("\(document.items.count) items in \(bytes.count) bytes")
  }
  expectWebAddress(document.link)
  expectWebAddress(document.next)
  for address in document.hubs { expectWebAddress(address) }
  expectHarmless(document.title)
  for item in document.items {
    expectWebAddress(item.link)
    for image in item.images { expectWebAddress(image.address) }
    if let chosen = item.chosenImage {
      guard item.images.indices.contains(chosen) else { finding("image \(chosen) of \(item.images.count)") }
    } else {
      guard item.images.isEmpty else { finding("no image of \(item.images)") }
    }
    for text in [item.title, item.summary, item.content, item.mediaDescription] { expectHarmless(text) }
    for date in [item.published, item.updated] {
      guard let date else { continue }
      guard
        FeedDate(date.description) == date || date.secondsSince1970 < -62_135_596_800
          || date.secondsSince1970 >= 253_402_300_800
      else { finding("a date that reads back as another: \(date)") }
    }
  }
}

private func expectWebAddress(_ address: String?) {
  guard let address else { return }
  // Compare bytes: a slash followed by a combining accent is one character.
  let start = String(decoding: address.utf8.prefix(8), as: UTF8.self).lowercased()
  guard start.hasPrefix("http://") || start.hasPrefix("https://") else { finding("not a web address: \(address)") }
  guard address.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F }) else {
    finding("control characters in \(address.debugDescription)")
  }
}

private func expectHarmless(_ text: FeedText?) {
  guard let text else { return }
  expectHarmless(text.plain, isMarkup: text.isMarkup)
}

private func expectHarmless(_ plain: String, isMarkup: Bool = true) {
  var last: UInt8 = 0x20
  for byte in plain.utf8 {
    guard byte >= 0x20, byte != 0x7F, last != 0xC2 || byte >= 0xA0 else {
      finding("a control character in \(plain.debugDescription)")
    }
    let isLetter = (byte | 0x20) &- 0x61 < 26
    if isMarkup, last == UInt8(ascii: "<"), isLetter || byte == UInt8(ascii: "/") || byte == UInt8(ascii: "!") {
      finding("a tag in \(plain.debugDescription)")
    }
    last = byte
  }
}

/// simdjson and `JSONDecoder` must read the same values and report the same errors.
func fuzzCaseStudy(_ input: UnsafeBufferPointer<UInt8>) -> Int32 {
  let body = Array(input)
  let fast = Result { () throws(FeedFormatError) in try CaseStudyFeed.images(in: body) }
  let slow = Result { () throws(FeedFormatError) in try CaseStudyFeed.imagesByDecoder(in: body) }
  guard fast == slow else { finding("simdjson: \(fast)\nJSONDecoder: \(slow)") }
  return 0
}

func fuzzPlainText(_ input: UnsafeBufferPointer<UInt8>) -> Int32 {
  let text = String(decoding: input, as: UTF8.self)
  let plain = plainText(ofHTML: text)
  expectHarmless(plain)
  // A space is inserted into text that would be a tag, and an entity becomes a character of at most four bytes.
  guard plain.utf8.count <= 2 * text.utf8.count + 16 else { finding("longer than the HTML: \(plain.debugDescription)") }
  if let date = FeedDate(text), FeedDate(" \(text) ") != date { finding("another date with spaces: \(date)") }
  return 0
}
