public import Foundation

/// Makes feed images of what a server sent.
///
/// The payload is `{"items": [{"id": UUID, "description"?: string, "location"?: string, "image": URL}]}` in UTF-8 or
/// UTF-16. The server's order is kept, and so are items that repeat an id; a `null` description or location is an
/// absent one; keys it does not know are ignored; no items make an empty feed. One bad item makes the whole feed invalid:
/// a part of a feed is never shown or saved as if it were the feed.
///
/// Pure and **slow for large bodies** (about 4 µs an image): map on a thread pool.
public enum FeedImagesMapper {
  /// Two million: more than the images of 32 MiB have, the largest body taken by default.
  public static let defaultMaxValues = 2_000_000

  /// The images in `body`.
  ///
  /// - Parameters:
  ///   - body: a whole response body.
  ///   - status: the response's HTTP status; anything but 200 is invalid.
  ///   - maxValues: how many values of JSON the body may hold, about 50 bytes of memory each while it is read.
  public static func map(
    _ body: Data, status: Int, maxValues: Int = defaultMaxValues
  ) throws(InvalidData) -> FeedImages {
    guard status == 200 else { throw .status(status) }
    guard !body.isEmpty else { throw .empty }
    guard !body.withUnsafeBytes({ $0.holdsMoreJSONValues(than: maxValues) }) else {
      throw .tooManyValues(limit: maxValues)
    }
    let items = try decode(body)
    var images = FeedImages.Builder(count: items.count)
    for (index, item) in items.enumerated() {
      guard let address = WebAddress(item.image, parse: webAddress) else {
        throw .imageAddress(item: index, item.image)
      }
      images.append(
        FeedImage(id: item.id, description: item.description, location: item.location, address: address))
    }
    return images.finish()
  }

  /// `text` as a URL, if it is an absolute http or https address with a host.
  ///
  /// A character that an address may not contain, such as a space, is percent-encoded, as browsers do.
  public static func webAddress(_ text: String) -> URL? {
    guard let url = URL(string: text), let scheme = url.scheme?.lowercased(), scheme == "http" || scheme == "https",
      let host = url.host(), !host.isEmpty
    else { return nil }
    return url
  }

  private struct Payload: Decodable {
    let items: [Item]
  }

  private struct Item: Decodable {
    let id: UUID
    let description: String?
    let location: String?
    let image: String

    private enum CodingKeys: CodingKey { case id, description, location, image }

    init(from decoder: any Decoder) throws {
      let item = try decoder.container(keyedBy: CodingKeys.self)
      // Not `decode(UUID.self)`, which reads the text with `sscanf`: a sixth of the time of the whole feed.
      guard let id = UUID(hexadecimal: try item.decode(String.self, forKey: .id)) else {
        throw DecodingError.dataCorruptedError(forKey: .id, in: item, debugDescription: "It is not a UUID.")
      }
      self.id = id
      description = try item.decodeIfPresent(String.self, forKey: .description)
      location = try item.decodeIfPresent(String.self, forKey: .location)
      image = try item.decode(String.self, forKey: .image)
    }
  }

  private static func decode(_ body: Data) throws(InvalidData) -> [Item] {
    do {
      return try JSONDecoder().decode(Payload.self, from: body).items
    } catch let error as DecodingError {
      if looksLikeWebPage(body) { throw .webPage }
      if case .dataCorrupted(let context) = error, context.codingPath.isEmpty {
        throw .notJSON(reason(for: body) ?? InvalidData.sentence(context.debugDescription))
      }
      throw InvalidData(error)
    } catch {
      throw .notJSON("\(error)")
    }
  }

  /// What in `body` is not JSON, and where.
  ///
  /// On Linux `JSONDecoder` does not tell; `JSONSerialization` does, but takes 0.3 s and much memory for a megabyte.
  private static func reason(for body: Data) -> String? {
    guard body.count <= 1 << 18 else { return nil }
    do {
      _ = try JSONSerialization.jsonObject(with: body, options: .fragmentsAllowed)
      return nil
    } catch {
      return ((error as NSError).userInfo[NSDebugDescriptionErrorKey] as? String).map(InvalidData.sentence)
    }
  }

  /// Whether the first character that is neither space nor part of a byte order mark opens a tag. JSON never does.
  private static func looksLikeWebPage(_ body: Data) -> Bool {
    let skipped: Set<UInt8> = [0x00, 0x09, 0x0A, 0x0D, 0x20, 0xEF, 0xBB, 0xBF, 0xFE, 0xFF]
    return body.prefix(1024).first { !skipped.contains($0) } == UInt8(ascii: "<")
  }
}

extension UUID {
  /// 32 hexadecimal digits of either case, with hyphens after the 8th, 12th, 16th and 20th.
  fileprivate init?(hexadecimal text: String) {
    var text = text
    let bytes: uuid_t? = text.withUTF8 { text in
      var bytes: uuid_t = (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)
      guard text.count == 36 else { return nil }
      let isWhole = withUnsafeMutableBytes(of: &bytes) { bytes in
        var digits = 0
        for place in text.indices {
          if place == 8 || place == 13 || place == 18 || place == 23 {
            guard text[place] == UInt8(ascii: "-") else { return false }
          } else {
            guard let value = hexadecimalValue(of: text[place]) else { return false }
            bytes[digits / 2] = bytes[digits / 2] << 4 | value
            digits += 1
          }
        }
        return true
      }
      return isWhole ? bytes : nil
    }
    guard let bytes else { return nil }
    self.init(uuid: bytes)
  }
}

private func hexadecimalValue(of character: UInt8) -> UInt8? {
  switch character {
  case UInt8(ascii: "0")...UInt8(ascii: "9"): character - UInt8(ascii: "0")
  case UInt8(ascii: "a")...UInt8(ascii: "f"): character - UInt8(ascii: "a") + 10
  case UInt8(ascii: "A")...UInt8(ascii: "F"): character - UInt8(ascii: "A") + 10
  default: nil
  }
}

extension InvalidData {
  fileprivate init(_ error: DecodingError) {
    switch error {
    case .dataCorrupted(let context), .valueNotFound(_, let context), .typeMismatch(_, let context):
      self = .wrongShape(at: Self.path(context.codingPath), Self.sentence(context.debugDescription))
    case .keyNotFound(let key, let context):
      self = .wrongShape(at: Self.path(context.codingPath), "\"\(key.stringValue)\" is missing")
    @unknown default:
      self = .wrongShape(at: "", "\(error)")
    }
  }

  private static func path(_ keys: [any CodingKey]) -> String {
    keys.reduce(into: "") { path, key in
      if let index = key.intValue {
        path += "[\(index)]"
      } else {
        path += path.isEmpty ? key.stringValue : ".\(key.stringValue)"
      }
    }
  }

  /// Without the full stop: the message has its own.
  fileprivate static func sentence(_ text: String) -> String {
    text.hasSuffix(".") ? String(text.dropLast()) : text
  }
}
