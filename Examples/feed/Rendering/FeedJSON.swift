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
  static func line(_ feed: Feed, of source: String = "", new: [Int] = []) -> String {
    let new = Set(new)
    // About 150 bytes an image, with some reserve.
    var json: [UInt8] = []
    json.reserveCapacity(256 + feed.images.count * 192)
    switch feed.source {
    case .remote: json.append("{\"origin\":\"remote\"")
    case .cache(let savedAt, _, let reason):
      json.append("{\"origin\":\"cache\",\"savedAt\":")
      json.append(quoted: savedAt.stamp)
      json.append(",\"reason\":")
      json.append(quoted: "\(reason)".printable)
    }
    if !source.isEmpty { json.append(",\(source)") }
    json.append(",\"feed\":[")
    for (index, image) in feed.images.enumerated() {
      if index > 0 { json.append(",") }
      json.append(image)
      if new.contains(index) {
        json.removeLast()
        json.append(",\"new\":true}")
      }
    }
    json.append("]}\n")
    return String(decoding: json, as: UTF8.self)
  }

  /// A JSON string (RFC 8259, section 7).
  static func quoted(_ text: String) -> String {
    var json: [UInt8] = []
    json.append(quoted: text)
    return String(decoding: json, as: UTF8.self)
  }
}

extension [UInt8] {
  fileprivate mutating func append(_ text: String) { append(contentsOf: text.utf8) }

  fileprivate mutating func append(_ image: FeedImage) {
    append("{\"id\":")
    append(quoted: "\(image.id)")
    if let description = image.description {
      append(",\"description\":")
      append(quoted: description)
    }
    if let location = image.location {
      append(",\"location\":")
      append(quoted: location)
    }
    append(",\"url\":")
    append(quoted: image.addressText)
    append("}")
  }

  fileprivate mutating func append(quoted text: String) {
    append(UInt8(ascii: "\""))
    // Nearly every text is plain and is copied unchanged.
    var text = text
    let isPlain = text.withUTF8 { utf8 in
      for byte in utf8 where byte < 0x20 || byte >= 0x7F || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") {
        return false
      }
      append(contentsOf: utf8)
      return true
    }
    if !isPlain { for scalar in text.unicodeScalars { append(escaped: scalar) } }
    append(UInt8(ascii: "\""))
  }

  private mutating func append(escaped scalar: Unicode.Scalar) {
    switch scalar {
    case "\"": append("\\\"")
    case "\\": append("\\\\")
    case "\n": append("\\n")
    case "\r": append("\\r")
    case "\t": append("\\t")
    case _ where !scalar.isActedUpon: append(contentsOf: UTF8.encode(scalar)!)
    default:
      for unit in UTF16.encode(scalar)! {
        append("\\u")
        appendHexadecimal(UInt32(unit), digits: 4)
      }
    }
  }
}
