import FeedFormats
import Foundation
import ImageFeed
import PlainText

/// Feeds and images as lines of JSON, whose keys are always in the same order.
///
/// The lines are written without `JSONEncoder`, because it doesn't offer that order, and so that a terminal doesn't
/// interpret anything in a feed. Characters that `printable` would make visible are written as `\u` escapes, which
/// parsers read back as the same text.
///
/// The structure of the lines is a contract, which `docs/schema` describes. ``version`` changes with every change to
/// the structure, except when a key is added.
enum FeedJSON {
  static let version = 1

  /// One feed.
  ///
  /// - Parameters:
  ///   - name: the feed's name.
  ///   - marks: the new and the starred images.
  ///   - positions: the positions of the images to write; all images by default.
  /// - Returns: UTF-8.
  static func line(
    _ feed: Feed, at address: URL, _ name: String, marks: Marks = Marks(), only positions: [Int]? = nil
  ) -> [UInt8] {
    let head = "{\"version\":\(version),\(of(address, name)),\(origin(of: feed.source)),\"feed\":["
    let (images, new) = (feed.images, Set(marks.new))
    let room = head.utf8.count + room(for: images) + 8
    return JSONWriter.bytes(atMost: room) { json in
      json.put(head)
      var isFirst = true
      for index in positions ?? Array(images.indices) {
        if !isFirst { json.put(",") }
        isFirst = false
        images.withTexts(at: index) { image in
          json.put("{")
          json.put(image, isNew: new.contains(index), isStarred: marks.starred.contains(image.id))
          json.put("}")
        }
      }
      json.put("]}\n")
    }
  }

  /// The marks of a feed's images.
  struct Marks: Sendable {
    /// The positions of the new images.
    var new: [Int] = []
    var starred: Set<FeedImage.ID> = []
  }

  /// The reason why there is no feed to show.
  static func line(_ failure: NothingToShow) -> [UInt8] {
    let parts = [("server", failure.serverLine), ("cache", failure.cacheLine), ("hint", failure.hint)]
      .map { "\"\($0)\":\(quoted($1.printable))" }.joined(separator: ",")
    return Array("{\"version\":\(version),\"url\":\(quoted(failure.address.shown)),\"error\":{\(parts)}}\n".utf8)
  }

  /// One image with its feed, without a line break.
  static func item(_ entry: FeedTimeline.Entry, isNew: Bool = false, isStarred: Bool = false) -> String {
    let head = "{\"version\":\(version),\"feed\":{\(of(entry.address, entry.name))},"
    let images: FeedImages = [entry.image]
    let bytes = JSONWriter.bytes(atMost: head.utf8.count + room(for: images) + 8) { json in
      json.put(head)
      images.withTexts(at: 0) { json.put($0, isNew: isNew, isStarred: isStarred) }
      json.put("}")
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  /// The members that identify the feed.
  private static func of(_ address: URL, _ name: String) -> String {
    "\"url\":\(quoted(address.shown)),\"title\":\(quoted(name))"
  }

  private static func origin(of source: LoadSource) -> String {
    switch source {
    case .remote: "\"origin\":\"remote\""
    case .cache(let savedAt, _, let reason):
      "\"origin\":\"cache\",\"savedAt\":\(quoted(savedAt.stamp)),\"reason\":\(quoted("\(reason)".printable))"
    case .part(let reason): "\"origin\":\"part\",\"reason\":\(quoted("\(reason)".printable))"
    }
  }

  /// The maximum size of the JSON: twice the size of the text, because an image's URL is also among the post's images,
  /// and the description may also be the title. The bytes between a post's fields are counted as if they were escaped
  /// text, which is more than the keys take up.
  private static func room(for images: FeedImages) -> Int {
    2 * images.withAllTexts { JSONWriter.room(for: $0) } + images.count * JSONWriter.roomForKeys
  }

  /// A JSON string (RFC 8259, section 7).
  static func quoted(_ text: String) -> String {
    var text = text
    let json = text.withUTF8 { utf8 in
      JSONWriter.bytes(atMost: JSONWriter.room(for: utf8) + 2) { $0.put(quoted: utf8) }
    }
    return String(decoding: json, as: UTF8.self)
  }

  /// Escapes characters that a terminal would interpret. They occur only inside strings, where an escape has the same
  /// meaning.
  static func harmless(_ json: String) -> String {
    guard json.unicodeScalars.contains(where: \.isActedUpon) else { return json }
    return json.unicodeScalars.reduce(into: "") { text, scalar in
      if scalar.isActedUpon {
        text += quoted(String(scalar)).dropFirst().dropLast()
      } else {
        text.unicodeScalars.append(scalar)
      }
    }
  }
}
