import Foundation

/// The format of images in a cache file: each value in the database holds about 64 KiB of images.
///
/// Writing one row per image would take SQLite five times as long. A pack begins with a record of 40 bytes per image.
/// The text of the images follows, one image after another, each with the image's post, if any (``PostFields``).
/// Numbers are little-endian. Equal images have equal packs.
enum ImagePack {
  /// The number of bytes at which a pack is full.
  static let size = 64 << 10

  struct Head {
    var uuid: uuid_t
    var number: UInt32
    /// The lengths of the text fields; -1 for a missing field.
    var description: Int32
    var location: Int32
    /// Its bits are inverted if there is a post, so packs of images without posts are the same as before posts were
    /// introduced.
    var address: Int32
    /// Seconds since 1970; `Int64.min` without a date.
    var published: Int64

    static let size = 40
  }
}

extension FeedImages {
  /// Calls `body` with each pack and its number of images until `body` returns `false`.
  func forEachPack(_ body: (_ count: Int, _ bytes: UnsafeRawBufferPointer) throws -> Bool) rethrows {
    var (heads, pack): ([ImagePack.Head], [UInt8]) = ([], [])
    var position = startIndex
    while position < endIndex {
      heads.removeAll(keepingCapacity: true)
      let start = storage.records[position].start
      var end = start
      repeat {
        let record = storage.records[position]
        heads.append(ImagePack.Head(record))
        end += record.length
        position += 1
      } while position < endIndex && heads.count * ImagePack.Head.size + end - start < ImagePack.size
      pack.removeAll(keepingCapacity: true)
      heads.withUnsafeBytes { pack.append(contentsOf: $0) }
      pack.append(contentsOf: storage.texts[start..<end])
      guard try pack.withUnsafeBytes({ try body(heads.count, $0) }) else { return }
    }
  }
}

extension FeedImages.Builder {
  /// - Parameter only: the position of the only image to append; `nil` to append all images.
  /// - Returns: false if the pack is damaged; some of its images may have been appended.
  mutating func append(pack: UnsafeRawBufferPointer, of count: Int, only: Int? = nil) -> Bool {
    guard count >= 0, count <= pack.count / ImagePack.Head.size else { return false }
    var texts = UnsafeRawBufferPointer(rebasing: pack[(count * ImagePack.Head.size)...])
    func take(_ length: Int32) -> UnsafeBufferPointer<UInt8>? {
      guard length >= 0, Int(length) <= texts.count else { return nil }
      defer { texts = UnsafeRawBufferPointer(rebasing: texts[Int(length)...]) }
      return UnsafeRawBufferPointer(rebasing: texts[..<Int(length)]).assumingMemoryBound(to: UInt8.self)
    }
    for index in 0..<count {
      let head = pack.loadUnaligned(fromByteOffset: index * ImagePack.Head.size, as: ImagePack.Head.self)
      let (description, location) = (take(head.description), take(head.location))
      guard head.description == -1 || description != nil, head.location == -1 || location != nil,
        let address = take(head.address < 0 ? ~head.address : head.address)
      else { return false }
      var post: UnsafeBufferPointer<UInt8>?
      if head.address < 0 {
        guard let length = PostFields.length(in: texts.assumingMemoryBound(to: UInt8.self)) else { return false }
        post = take(Int32(length))
      }
      if let only, index != only { continue }
      let published = head.published == FeedImages.Record.undated ? nil : head.published
      let id = FeedImage.ID(UUID(uuid: head.uuid), number: head.number)
      if WebAddress.isPlain(address) {
        append(
          .init(
            id: id, description: description, location: location, address: address, isPlain: true,
            published: published, post: post))
      } else if let address = WebAddress(String(decoding: address, as: UTF8.self)) {
        let description = description.map { String(decoding: $0, as: UTF8.self) }
        append(
          FeedImage(
            id: id, description: description, location: location.map { String(decoding: $0, as: UTF8.self) },
            address: address, published: published, post: FeedImage.Post(post, of: description)))
      } else {
        return false
      }
      if only != nil { return true }
    }
    return only == nil && texts.isEmpty
  }
}

extension ImagePack.Head {
  fileprivate init(_ record: FeedImages.Record) {
    self.init(
      uuid: record.id.uuid.uuid, number: record.id.number, description: record.description, location: record.location,
      address: record.post > 0 ? ~record.address : record.address, published: record.published)
  }
}

extension FeedImages.Record {
  /// The length of the image's text and post.
  fileprivate var length: Int { Int(max(description, 0)) + Int(max(location, 0)) + Int(address) + Int(post) }
}
