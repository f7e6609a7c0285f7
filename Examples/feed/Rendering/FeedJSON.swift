import Foundation
import ImageFeed

/// A feed as one line of JSON, its keys always in the same order.
///
/// Written by hand for that order, which `JSONEncoder` does not offer, and so that nothing in a feed can act upon a
/// terminal: what `printable` would make visible is written as `\u` escapes, which read back as the same text.
enum FeedJSON {
  static func line(_ feed: Feed) -> String {
    var members: [String]
    switch feed.origin {
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
    var members = [member("id", image.id.uuidString)]
    if let description = image.description { members.append(member("description", description)) }
    if let location = image.location { members.append(member("location", location)) }
    members.append(member("url", image.url.absoluteString))
    return "{\(members.joined(separator: ","))}"
  }

  private static func member(_ name: String, _ value: String) -> String { "\"\(name)\":\(quoted(value))" }

  /// A JSON string (RFC 8259, section 7).
  static func quoted(_ text: String) -> String {
    var result = "\""
    // Nearly every text is harmless, and then no scalar needs a second look.
    let isHarmless = text.printable == text
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\"": result += "\\\""
      case "\\": result += "\\\\"
      case "\n": result += "\\n"
      case "\r": result += "\\r"
      case "\t": result += "\\t"
      case _ where isHarmless || !isActedUpon(scalar): result.unicodeScalars.append(scalar)
      default:
        for unit in UTF16.encode(scalar)! { result += "\\u" + hex(unit) }
      }
    }
    return result + "\""
  }

  private static func isActedUpon(_ scalar: Unicode.Scalar) -> Bool {
    let text = String(Character(scalar))
    return text.printable != text
  }

  private static func hex(_ unit: UInt16) -> String {
    let digits = String(unit, radix: 16)
    return String(repeating: "0", count: 4 - digits.count) + digits
  }
}
