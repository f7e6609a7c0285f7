import Foundation

/// Essential Feed JSON as `JSONDecoder` reads it, which defines the format and the messages.
enum CaseStudyOracle {
  static func images(in body: [UInt8], maxValues: Int) throws(FeedFormatError) -> [CaseStudyFeed.Image] {
    guard !body.isEmpty else { throw .empty }
    guard !body.withUnsafeBytes({ $0.holdsMoreJSONValues(than: maxValues) }) else {
      throw .tooManyValues(limit: maxValues)
    }
    let items = try decode(Data(body))
    var images: [CaseStudyFeed.Image] = []
    images.reserveCapacity(items.count)
    for (index, item) in items.enumerated() {
      let isPlain = isPlainWebAddress(item.image)
      guard let address = isPlain ? item.image : address(item.image) else {
        throw .imageAddress(item: index, item.image)
      }
      images.append(
        CaseStudyFeed.Image(
          id: item.id, description: item.description.map { SharedText($0) },
          location: item.location.map { SharedText($0) }, address: SharedText(address), isPlain: isPlain))
    }
    return images
  }

  /// `text` as a URL, if it is an absolute http or https URL with a host.
  ///
  /// A character that a URL may not contain, such as a space, is percent-encoded, as it is in browsers.
  static func address(_ text: String) -> String? {
    guard let url = URL(string: text), let scheme = url.scheme?.lowercased(), scheme == "http" || scheme == "https",
      let host = url.host(), !host.isEmpty
    else { return nil }
    return url.absoluteString
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
      let text = try item.decode(String.self, forKey: .id)
      // `decode(UUID.self)` accepts more than the notation of a UUID.
      guard let id = text.withBytes({ Identity($0) })?.uuid else {
        throw DecodingError.dataCorruptedError(forKey: .id, in: item, debugDescription: "it is not a UUID.")
      }
      self.id = id
      description = try item.decodeIfPresent(String.self, forKey: .description)
      location = try item.decodeIfPresent(String.self, forKey: .location)
      image = try item.decode(String.self, forKey: .image)
    }
  }

  private static func decode(_ body: Data) throws(FeedFormatError) -> [Item] {
    do {
      return try JSONDecoder().decode(Payload.self, from: body).items
    } catch let error as DecodingError {
      if looksLikeWebPage(body) { throw .webPage }
      if case .dataCorrupted(let context) = error, context.codingPath.isEmpty {
        throw .notJSON(reason(for: body) ?? FeedFormatError.sentence(context.debugDescription))
      }
      throw FeedFormatError(error)
    } catch {
      throw .notJSON("\(error)")
    }
  }

  /// The part of `body` that isn't JSON, and its position.
  ///
  /// On Linux, `JSONDecoder` doesn't report it; `JSONSerialization` does, but takes 0.3 s and a lot of memory for a
  /// megabyte.
  private static func reason(for body: Data) -> String? {
    guard body.count <= 1 << 18 else { return nil }
    do {
      _ = try JSONSerialization.jsonObject(with: body, options: .fragmentsAllowed)
      return nil
    } catch {
      return ((error as NSError).userInfo[NSDebugDescriptionErrorKey] as? String).map(FeedFormatError.sentence)
    }
  }

  /// True if the first character, after a byte order mark and whitespace, is `<`, which never begins JSON.
  private static func looksLikeWebPage(_ body: Data) -> Bool {
    body.prefix(1024).firstVisible == UInt8(ascii: "<")
  }
}

extension FeedFormatError {
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

  /// The text without the final period, which the message adds.
  fileprivate static func sentence(_ text: String) -> String {
    text.hasSuffix(".") ? String(text.dropLast()) : text
  }
}

extension UnsafeRawBufferPointer {
  /// True when the JSON in these bytes may have more values than `limit`: one for each comma and opening bracket
  /// outside strings. Counting avoids a decoder, which would take 50 bytes per value.
  func holdsMoreJSONValues(than limit: Int) -> Bool {
    // In UTF-16 and UTF-32, half a character may look like a quotation mark, so strings aren't skipped.
    let isOfBytes = !prefix(4).contains { $0 == 0 || $0 >= 0xFE }
    var (count, index) = (0, 0)
    while index < self.count {
      switch self[index] {
      case UInt8(ascii: ","), UInt8(ascii: "["), UInt8(ascii: "{"):
        count += 1
        if count > limit { return true }
      case UInt8(ascii: "\"") where isOfBytes: index = endOfString(from: index + 1)
      default: break
      }
      index += 1
    }
    return false
  }

  /// The end of the string that begins at `index`.
  private func endOfString(from index: Int) -> Int {
    var index = index
    while index < count, self[index] != UInt8(ascii: "\"") { index += self[index] == UInt8(ascii: "\\") ? 2 : 1 }
    return index
  }
}
