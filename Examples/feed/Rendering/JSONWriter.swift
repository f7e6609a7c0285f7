import FeedFormats
import Foundation
import ImageFeed
import PlainText

/// Writes JSON into memory that is known to be large enough, so that the writes needn't check.
struct JSONWriter {
  /// The maximum size of an image's braces, keys and id.
  static let roomForKeys = 320

  private var end: UnsafeMutablePointer<UInt8>

  /// - Parameter room: the maximum number of bytes that `body` writes.
  static func bytes(atMost room: Int, _ body: (inout JSONWriter) -> Void) -> [UInt8] {
    [UInt8](unsafeUninitializedCapacity: room) { memory, count in
      guard let start = memory.baseAddress else { return }
      preferLargePages(for: UnsafeMutableRawBufferPointer(memory))
      var writer = JSONWriter(end: start)
      body(&writer)
      count = writer.end - start
      precondition(count <= room, "JSONWriter: the JSON is longer than calculated")
    }
  }

  /// The maximum size of the text, without quotation marks.
  ///
  /// An escape has six bytes (`\u001B`), or twelve for a four-byte character (`\uDB40\uDC01`).
  static func room(for texts: UnsafeBufferPointer<UInt8>) -> Int {
    var room = texts.count
    forEachWord(of: texts) { word in
      if hasOddByte(word) { room += 5 * 8 }
      return true
    }
    return room
  }

  mutating func put(_ text: String) {
    var text = text
    text.withUTF8 { put($0) }
  }

  mutating func put(_ text: StaticString) {
    end.initialize(from: text.utf8Start, count: text.utf8CodeUnitCount)
    end += text.utf8CodeUnitCount
  }

  /// The members of an image.
  mutating func put(_ image: FeedImages.Texts, isNew: Bool, isStarred: Bool) {
    put("\"id\":\"")
    end += image.id.write(to: end)
    put("\"")
    put(",\"description\":", image.description)
    put(",\"location\":", image.location)
    put(",\"url\":", image.address)
    let post = image.post.map { Post($0, of: image.description) } ?? Post()
    put(",\"title\":", post.title)
    put(",\"link\":", post.link)
    put(",\"text\":", post.text)
    if let published = image.published {
      put(",\"published\":\"")
      put(FeedDate(secondsSince1970: published).description)
      put("\"")
    }
    put(",\"images\":[")
    if post.hasImages, let fields = image.post { put(imagesOf: fields) } else { put(image.address, post.alt) }
    put("]")
    if isNew { put(",\"new\":true") }
    if isStarred { put(",\"starred\":true") }
  }

  /// The fields of an image's post, read without creating strings.
  private struct Post {
    var title, link, text, alt: UnsafeBufferPointer<UInt8>?
    var hasImages = false

    init() {}

    init(_ fields: UnsafeBufferPointer<UInt8>, of description: UnsafeBufferPointer<UInt8>?) {
      for (kind, text) in PostFields(fields) {
        switch kind {
        case .sameTitle: title = description
        case .title: title = text
        case .link: link = text
        case .text: self.text = text
        case .alt: alt = text
        case .image: hasImages = true
        case .imageAlt: break
        }
      }
    }
  }

  private mutating func put(imagesOf fields: UnsafeBufferPointer<UInt8>) {
    var last: UnsafeBufferPointer<UInt8>?
    var alt: UnsafeBufferPointer<UInt8>?
    for (kind, text) in PostFields(fields) {
      if kind == .imageAlt { alt = text }
      guard kind == .image else { continue }
      if let last {
        put(last, alt)
        put(",")
      }
      (last, alt) = (text, nil)
    }
    if let last { put(last, alt) }
  }

  /// One of an item's images.
  private mutating func put(_ address: UnsafeBufferPointer<UInt8>, _ alt: UnsafeBufferPointer<UInt8>?) {
    put("{\"url\":", address)
    put(",\"alt\":", alt)
    put("}")
  }

  /// Writes a key and its text, or nothing if there is no text.
  private mutating func put(_ key: StaticString, _ text: UnsafeBufferPointer<UInt8>?) {
    guard let text else { return }
    put(key)
    put(quoted: text)
  }

  mutating func put(quoted text: UnsafeBufferPointer<UInt8>) {
    put("\"")
    // Nearly every text is plain and is copied unchanged.
    if Self.isPlain(text) {
      put(text)
    } else {
      for scalar in String(decoding: text, as: UTF8.self).unicodeScalars { put(escaped: scalar) }
    }
    put("\"")
  }

  private mutating func put(_ bytes: UnsafeBufferPointer<UInt8>) {
    guard let start = bytes.baseAddress else { return }
    end.initialize(from: start, count: bytes.count)
    end += bytes.count
  }

  private mutating func put(_ byte: UInt8) {
    end.initialize(to: byte)
    end += 1
  }

  private mutating func put(escaped scalar: Unicode.Scalar) {
    switch scalar {
    case "\"": put("\\\"")
    case "\\": put("\\\\")
    case "\n": put("\\n")
    case "\r": put("\\r")
    case "\t": put("\\t")
    case _ where !scalar.isActedUpon: for byte in UTF8.encode(scalar)! { put(byte) }
    default:
      for unit in UTF16.encode(scalar)! {
        put("\\u")
        for shift in [12, 8, 4, 0] { put(Self.digits[Int(unit >> UInt16(shift) & 0xF)]) }
      }
    }
  }

  private static let digits = Array("0123456789ABCDEF".utf8)

  private static func isPlain(_ text: UnsafeBufferPointer<UInt8>) -> Bool {
    var isPlain = true
    forEachWord(of: text) { word in
      isPlain = !hasOddByte(word)
      return isPlain
    }
    return isPlain
  }

  /// Calls `body` with the text, eight bytes at a time, until `body` returns `false`. The last bytes are padded with
  /// spaces.
  @inline(__always)
  private static func forEachWord(of text: UnsafeBufferPointer<UInt8>, _ body: (UInt64) -> Bool) {
    let bytes = UnsafeRawBufferPointer(text)
    var place = 0
    while place + 8 <= bytes.count {
      guard body(bytes.loadUnaligned(fromByteOffset: place, as: UInt64.self)) else { return }
      place += 8
    }
    guard place < bytes.count else { return }
    var rest: UInt64 = 0x2020_2020_2020_2020
    while place < bytes.count {
      rest = rest << 8 | UInt64(bytes[place])
      place += 1
    }
    _ = body(rest)
  }

  /// True if one of eight bytes is a control character, a quotation mark, a backslash, or not ASCII.
  @inline(__always)
  private static func hasOddByte(_ word: UInt64) -> Bool {
    let ones: UInt64 = 0x0101_0101_0101_0101
    let highs = ones << 7
    // The subtraction sets a byte's highest bit only if that byte or a lower one is too small. It doesn't matter which
    // one.
    let control = (word &- ones &* 0x20) & ~word
    let quote = word ^ ones &* UInt64(UInt8(ascii: "\""))
    let backslash = word ^ ones &* UInt64(UInt8(ascii: "\\"))
    let equal = (quote &- ones) & ~quote | (backslash &- ones) & ~backslash
    let high = (word & ~highs) &+ ones | word
    return (control | equal | high) & highs != 0
  }
}
