import Foundation
import ImageFeed
import PlainText

/// A feed as one line of JSON, its keys always in the same order.
///
/// Written by hand for that order, which `JSONEncoder` does not offer, and so that nothing in a feed can act upon a
/// terminal: what `printable` would make visible is written as `\u` escapes, which read back as the same text.
enum FeedJSON {
  static func line(_ feed: Feed) -> String {
    var members: [String]
    switch feed.source {
    case .remote:
      members = [member("origin", "remote")]
    case .cache(let savedAt, _, let reason):
      members = [
        member("origin", "cache"), member("savedAt", savedAt.stamp), member("reason", "\(reason)".printable),
      ]
    }
    members.append("\"feed\":[\(feed.images.map(object).joined(separator: ","))]")
    return "{\(members.joined(separator: ","))}\n"
  }

  private static func object(_ image: FeedImage) -> String {
    var members = [member("id", "\(image.id)")]
    if let description = image.description { members.append(member("description", description)) }
    if let location = image.location { members.append(member("location", location)) }
    members.append(member("url", image.url.absoluteString))
    return "{\(members.joined(separator: ","))}"
  }

  private static func member(_ name: String, _ value: String) -> String { "\"\(name)\":\(quoted(value))" }

  /// A JSON string (RFC 8259, section 7).
  static func quoted(_ text: String) -> String {
    var result = [UInt8(ascii: "\"")]
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\"": result += "\\\"".utf8
      case "\\": result += "\\\\".utf8
      case "\n": result += "\\n".utf8
      case "\r": result += "\\r".utf8
      case "\t": result += "\\t".utf8
      case _ where !scalar.isActedUpon: result += UTF8.encode(scalar)!
      default:
        for unit in UTF16.encode(scalar)! {
          result += "\\u".utf8
          result.appendHexadecimal(UInt32(unit), digits: 4)
        }
      }
    }
    result.append(UInt8(ascii: "\""))
    return String(decoding: result, as: UTF8.self)
  }
}
