import FeedFormats
import Foundation
import ImageFeed
import PlainText

/// A feed as one line of JSON, with its keys always in the same order.
///
/// Written by hand for that order, which `JSONEncoder` does not offer, and so that a terminal interprets nothing in a
/// feed: what `printable` would make visible is written as `\u` escapes, which are read back as the same text.
enum FeedJSON {
  /// - Parameters:
  ///   - source: the members that say whose it is, where there are several.
  ///   - new: where the images are that are marked as new.
  /// - Returns: UTF-8.
  static func line(_ feed: Feed, of source: String = "", new: [Int] = []) -> [UInt8] {
    let new = Set(new)
    var head: String
    switch feed.source {
    case .remote: head = "{\"origin\":\"remote\""
    case .cache(let savedAt, _, let reason):
      head =
        "{\"origin\":\"cache\",\"savedAt\":\(quoted(savedAt.stamp)),\"reason\":\(quoted("\(reason)".printable))"
    case .part(let reason): head = "{\"origin\":\"part\",\"reason\":\(quoted("\(reason)".printable))"
    }
    if !source.isEmpty { head += ",\(source)" }
    head += ",\"feed\":["
    let texts = feed.images.withAllTexts { JSONWriter.room(for: $0) }
    let room = head.utf8.count + texts + feed.images.count * JSONWriter.roomForKeys + 8
    return JSONWriter.bytes(atMost: room) { json in
      json.put(head)
      var index = 0
      feed.images.forEachTexts { image in
        if index > 0 { json.put(",") }
        json.put(image, isNew: new.contains(index))
        index += 1
      }
      json.put("]}\n")
    }
  }

  /// A JSON string (RFC 8259, section 7).
  static func quoted(_ text: String) -> String {
    var text = text
    let json = text.withUTF8 { utf8 in
      JSONWriter.bytes(atMost: JSONWriter.room(for: utf8) + 2) { $0.put(quoted: utf8) }
    }
    return String(decoding: json, as: UTF8.self)
  }
}

/// Writes JSON into memory that is large enough for it, so that nothing is checked for each text.
struct JSONWriter {
  /// The most that an image's braces, keys and id take.
  static let roomForKeys = 160

  private var end: UnsafeMutablePointer<UInt8>

  /// - Parameter room: the most that `body` writes.
  static func bytes(atMost room: Int, _ body: (inout JSONWriter) -> Void) -> [UInt8] {
    [UInt8](unsafeUninitializedCapacity: room) { memory, count in
      guard let start = memory.baseAddress else { return }
      preferLargePages(for: UnsafeMutableRawBufferPointer(memory))
      var writer = JSONWriter(end: start)
      body(&writer)
      count = writer.end - start
      precondition(count <= room, "JSONWriter: a text took more room than was counted")
    }
  }

  /// The most that texts take, without their quotation marks.
  ///
  /// An escape has six bytes (`\u001B`), or twelve for a character of four (`\uDB40\uDC01`).
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

  mutating func put(_ image: FeedImages.Texts, isNew: Bool) {
    put("{\"id\":\"")
    end += image.id.write(to: end)
    put("\"")
    if let description = image.description {
      put(",\"description\":")
      put(quoted: description)
    }
    if let location = image.location {
      put(",\"location\":")
      put(quoted: location)
    }
    put(",\"url\":")
    put(quoted: image.address)
    if isNew { put(",\"new\":true") }
    put("}")
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

  /// Calls `body` with eight bytes after another, the last of them filled up with spaces, until it returns `false`.
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

  /// True when one of eight bytes is a control character, a quotation mark, a backslash, or no ASCII.
  @inline(__always)
  private static func hasOddByte(_ word: UInt64) -> Bool {
    let ones: UInt64 = 0x0101_0101_0101_0101
    let highs = ones << 7
    // A subtraction borrows from a byte's highest bit exactly when that byte, or one below it, is too small: it is enough to
    // know that there is one.
    let control = (word &- ones &* 0x20) & ~word
    let quote = word ^ ones &* UInt64(UInt8(ascii: "\""))
    let backslash = word ^ ones &* UInt64(UInt8(ascii: "\\"))
    let equal = (quote &- ones) & ~quote | (backslash &- ones) & ~backslash
    let high = (word & ~highs) &+ ones | word
    return (control | equal | high) & highs != 0
  }
}
