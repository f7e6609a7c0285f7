import Foundation

extension FeedImages {
  /// The images as bytes that another machine can read: for stores without tables.
  ///
  /// The bytes are a version, the digest of the images, the images, the number of items without an image, if any, and
  /// the title. A document of images without posts has the same format as before posts were introduced, so earlier
  /// readers can read it. Numbers are little-endian.
  package var bytes: [UInt8] {
    var body: [UInt8] = []
    body.reserveCapacity(storage.texts.count + count * 40 + 4)
    body.append(UInt32(count))
    let hasPosts = storage.records.contains { $0.post > 0 }
    for index in indices {
      withTexts(at: index) { texts in
        withUnsafeBytes(of: texts.id.uuid.uuid) { body.append(contentsOf: $0) }
        body.append(texts.id.number)
        body.append(texts.published ?? Record.undated)
        for text in [texts.description, texts.location, texts.address] {
          body.append(text.map { UInt32($0.count) } ?? .max)
          if let text { body.append(contentsOf: text) }
        }
        guard hasPosts else { return }
        if let post = texts.post { body.append(contentsOf: post) } else { body.append(UInt32(0)) }
      }
    }
    var bytes: [UInt8] = [
      hasPosts ? Self.versionWithPosts : omittedItems > 0 ? Self.versionWithOmitted : Self.versionWithout
    ]
    bytes.append(BodyDigest(body).value)
    bytes.append(contentsOf: body)
    if omittedItems > 0 || hasPosts { bytes.append(UInt32(clamping: omittedItems)) }
    bytes.append(contentsOf: (title ?? "").utf8)
    return bytes
  }

  private static var versionWithout: UInt8 { 1 }
  private static var versionWithOmitted: UInt8 { 2 }
  /// The version in which each image has a post, and the document has a count of items without an image.
  private static var versionWithPosts: UInt8 { 3 }

  /// The digest in ``bytes``: equal for the same images, regardless of the title and of the number of items without an
  /// image.
  package static func digest(in bytes: some Collection<UInt8>) -> UInt64? {
    guard bytes.count >= 9, let version = bytes.first, (versionWithout...versionWithPosts).contains(version) else {
      return nil
    }
    return bytes.dropFirst().prefix(8).reversed().reduce(0) { $0 << 8 | UInt64($1) }
  }

  /// Reads the format that ``bytes`` writes.
  ///
  /// - Returns: `nil` for missing or changed bytes.
  package init?(bytes: UnsafeRawBufferPointer) {
    guard let digest = Self.digest(in: bytes) else { return nil }
    var reader = BytesReader(bytes: UnsafeRawBufferPointer(rebasing: bytes[9...]))
    guard let count: UInt32 = reader.number(), count <= bytes.count / 40 else { return nil }
    var builder = Builder(count: Int(count))
    for _ in 0..<count {
      guard let uuid = reader.take(16), let number: UInt32 = reader.number(), let published: Int64 = reader.number(),
        let description = reader.text(), let location = reader.text(), let address = reader.text()?.text,
        let address = WebAddress(address)
      else { return nil }
      var post: FeedImage.Post?
      if bytes[0] == Self.versionWithPosts {
        guard let fields = reader.post() else { return nil }
        post = FeedImage.Post(fields, of: description.text)
      }
      builder.append(
        FeedImage(
          id: FeedImage.ID(UUID(uuid: uuid.loadUnaligned(as: uuid_t.self)), number: number),
          description: description.text, location: location.text, address: address,
          published: published == Record.undated ? nil : published, post: post ?? FeedImage.Post()))
    }
    guard BodyDigest(bytes[9..<(9 + reader.position)]).value == digest else { return nil }
    if bytes[0] != Self.versionWithout {
      guard let omitted: UInt32 = reader.number() else { return nil }
      builder.omittedItems = Int(omitted)
    }
    let title = String(decoding: bytes[(9 + reader.position)...], as: UTF8.self)
    if !title.isEmpty { builder.title = title }
    self = builder.finish()
  }
}

private struct BytesReader {
  struct Text { let text: String? }

  let bytes: UnsafeRawBufferPointer
  var position = 0

  mutating func take(_ count: Int) -> UnsafeRawBufferPointer? {
    guard count <= bytes.count - position else { return nil }
    defer { position += count }
    return UnsafeRawBufferPointer(rebasing: bytes[position..<position + count])
  }

  mutating func number<Number: FixedWidthInteger>() -> Number? {
    take(Number.bitWidth / 8).map { Number(littleEndian: $0.loadUnaligned(as: Number.self)) }
  }

  mutating func post() -> UnsafeBufferPointer<UInt8>? {
    let rest = UnsafeRawBufferPointer(rebasing: bytes[position...]).assumingMemoryBound(to: UInt8.self)
    guard let length = PostFields.length(in: rest) else { return nil }
    return take(length)?.assumingMemoryBound(to: UInt8.self)
  }

  mutating func text() -> Text? {
    guard let count: UInt32 = number() else { return nil }
    guard count != .max else { return Text(text: nil) }
    return take(Int(count)).map { Text(text: String(decoding: $0, as: UTF8.self)) }
  }
}

extension [UInt8] {
  fileprivate mutating func append(_ number: some FixedWidthInteger) {
    Swift.withUnsafeBytes(of: number.littleEndian) { append(contentsOf: $0) }
  }
}
