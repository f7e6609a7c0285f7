public import FeedFormats
import Foundation

/// The images of a feed, in order: an immutable list that is compared, hashed and released in constant time.
///
/// An event loop compares the feed that it shows with the one that has arrived, and releases the old one. With an array
/// of 100,000 images, each of these operations would take 10 ms. This list is created off the loop: all text is in
/// one block of memory, together with their digest. Reading an element creates its strings.
public struct FeedImages: Sendable {
  let storage: Storage

  /// Copies `images`: O(n).
  public init(_ images: some Sequence<FeedImage>) {
    var builder = Builder(count: images.underestimatedCount)
    for image in images { builder.append(image) }
    self = builder.finish()
  }

  /// All images of `lists`, one list after another: O(n). The counts of items without an image are added up; the title
  /// and the polling hints are the first list's, and ``next`` is the last one's.
  public init(joining lists: [FeedImages]) {
    var builder = Builder(count: lists.reduce(0) { $0 + $1.count })
    for list in lists { for index in list.indices { list.withTexts(at: index) { builder.append($0) } } }
    builder.omittedItems = lists.reduce(0) { $0 + $1.omittedItems }
    builder.polling = lists.first?.polling
    builder.title = lists.first?.title
    builder.next = lists.last?.next
    builder.isFromPrivateNetwork = Self.joined(lists.map(\.isFromPrivateNetwork))
    self = builder.finish()
  }

  /// The ``isFromPrivateNetwork`` of images from several documents.
  package static func joined(_ marks: [Bool?]) -> Bool? {
    marks.contains(false) ? false : marks.contains(nil) ? nil : marks.first ?? nil
  }

  init(storage: Storage) {
    self.storage = storage
  }

  /// The number of items without an image in the document. It is saved but not compared.
  public var omittedItems: Int { storage.omittedItems }

  /// The document's hints about how often to poll; `nil` if its format has no such hints. It is neither compared nor
  /// saved.
  public var polling: PollingHints? { storage.polling }

  /// The feed's own title, on one line; `nil` when it has none. It is untrusted text, and not compared.
  public var title: String? { storage.title }

  /// The URL of the next page; `nil` if the document doesn't specify one. It is neither compared nor saved.
  public var next: URL? { storage.next }

  /// True if the document came from a private network, false if it did not; `nil` if this is unknown. Only a feed from
  /// a private network may load images and pages from one (``ImageLoader``). This mark is saved but not compared.
  public var isFromPrivateNetwork: Bool? { storage.isFromPrivateNetwork }

  /// Items without an image whose pages may have one. They are neither compared nor saved with the images.
  package var imageless: [Imageless] { storage.imageless }

  /// The same images, with a different ``isFromPrivateNetwork``. O(1).
  package func marked(isFromPrivateNetwork mark: Bool?) -> FeedImages {
    guard mark != storage.isFromPrivateNetwork else { return self }
    return FeedImages(storage: Storage(storage, isFromPrivateNetwork: mark, imageless: imageless))
  }

  /// The same images, without ``imageless``. O(1).
  var withoutImageless: FeedImages {
    guard !imageless.isEmpty else { return self }
    return FeedImages(storage: Storage(storage, isFromPrivateNetwork: isFromPrivateNetwork, imageless: []))
  }

  final class Storage: Sendable {
    let records: [Record]
    /// The text of each record, one after another: the description, the location and the URL in UTF-8, and then the
    /// post.
    let texts: [UInt8]
    let digest: Int
    let omittedItems: Int
    let polling: PollingHints?
    let title: String?
    let next: URL?
    let isFromPrivateNetwork: Bool?
    let imageless: [Imageless]

    fileprivate init(_ other: Storage, isFromPrivateNetwork: Bool?, imageless: [Imageless]) {
      self.imageless = imageless
      (records, texts, digest) = (other.records, other.texts, other.digest)
      (omittedItems, polling, title, next) = (other.omittedItems, other.polling, other.title, other.next)
      self.isFromPrivateNetwork = isFromPrivateNetwork
    }

    init(
      records: [Record], texts: [UInt8], omittedItems: Int, polling: PollingHints?, title: String?, next: URL?,
      isFromPrivateNetwork: Bool?, imageless: [Imageless]
    ) {
      self.imageless = imageless
      self.next = next
      self.isFromPrivateNetwork = isFromPrivateNetwork
      self.polling = polling
      self.records = records
      self.texts = texts
      self.omittedItems = omittedItems
      self.title = title
      var hasher = Hasher()
      for record in records { record.hash(into: &hasher) }
      texts.withUnsafeBytes { hasher.combine(bytes: $0) }
      digest = hasher.finalize()
    }
  }

  /// One image without its text. It has no references, so an array of records can be released without visiting its
  /// elements.
  struct Record {
    let id: FeedImage.ID
    /// The lengths of the image's text fields; -1 for a missing field.
    let description: Int32
    /// The offset of the image's text.
    let start: Int
    let location: Int32
    let address: Int32
    /// The length of its post: see ``PostFields``. 0 if there is none.
    let post: Int32
    /// See ``WebAddress/isPlain(_:)``.
    let isPlain: Bool
    /// Seconds since 1970; `undated` without a date.
    let published: Int64

    static let undated = Int64.min

    fileprivate func hash(into hasher: inout Hasher) {
      hasher.combine(id)
      hasher.combine(published)
      hasher.combine(Int64(description) << 32 | Int64(location))
      hasher.combine(Int64(address) << 32 | Int64(post))
    }
  }
}

extension FeedImages: RandomAccessCollection {
  public var startIndex: Int { 0 }
  public var endIndex: Int { storage.records.count }

  public subscript(position: Int) -> FeedImage {
    withTexts(at: position) { texts in
      let description = texts.description.map(Self.string)
      return FeedImage(
        id: texts.id, description: description, location: texts.location.map(Self.string),
        address: WebAddress(Self.string(texts.address), isPlain: texts.isPlain), published: texts.published,
        post: FeedImage.Post(texts.post, of: description))
    }
  }

  private static func string(_ utf8: UnsafeBufferPointer<UInt8>) -> String { String(decoding: utf8, as: UTF8.self) }
}

extension FeedImages: Hashable {
  /// Equal when both have the same images, byte for byte, in the same order.
  ///
  /// Compares digests: 64 bits, with a new key in each process. Two different lists compare as equal once in 2^64
  /// comparisons, and no server can predict which.
  public static func == (lhs: FeedImages, rhs: FeedImages) -> Bool {
    lhs.storage === rhs.storage || lhs.storage.digest == rhs.storage.digest && lhs.count == rhs.count
  }

  public func hash(into hasher: inout Hasher) { hasher.combine(storage.digest) }
}

extension FeedImages: ExpressibleByArrayLiteral {
  public init(arrayLiteral elements: FeedImage...) { self.init(elements) }
}

extension FeedImages: CustomStringConvertible {
  public var description: String { Array(self).description }
}

extension FeedImages {
  /// One image as it is stored; its pointers are valid only within the closure that receives it.
  package struct Texts {
    package let id: FeedImage.ID
    package let description: UnsafeBufferPointer<UInt8>?
    package let location: UnsafeBufferPointer<UInt8>?
    package let address: UnsafeBufferPointer<UInt8>
    let isPlain: Bool
    /// Seconds since 1970.
    package var published: Int64?
    /// See ``PostFields``.
    package var post: UnsafeBufferPointer<UInt8>?
  }

  /// The id of an image; doesn't read the image's text.
  func id(at position: Int) -> FeedImage.ID { storage.records[position].id }

  /// The time when an image was published, in seconds since 1970; doesn't read the image's text.
  func published(at position: Int) -> Int64? {
    let published = storage.records[position].published
    return published == Record.undated ? nil : published
  }

  package func withTexts<R>(at position: Int, _ body: (Texts) throws -> R) rethrows -> R {
    let record = storage.records[position]
    return try storage.texts.withUnsafeBufferPointer { texts in
      let location = record.start + Int(Swift.max(record.description, 0))
      let address = location + Int(Swift.max(record.location, 0))
      let post = address + Int(record.address)
      return try body(
        Texts(
          id: record.id,
          description: record.description < 0 ? nil : texts.part(record.start, record.description),
          location: record.location < 0 ? nil : texts.part(location, record.location),
          address: texts.part(address, record.address), isPlain: record.isPlain, published: published(at: position),
          post: record.post == 0 ? nil : texts.part(post, record.post)))
    }
  }

  /// Calls `body` with the text of all images, one after another.
  package func withAllTexts(_ body: (UnsafeBufferPointer<UInt8>) -> Int) -> Int {
    storage.texts.withUnsafeBufferPointer(body)
  }
}

extension UnsafeBufferPointer<UInt8> {
  fileprivate func part(_ start: Int, _ count: Int32) -> UnsafeBufferPointer<UInt8> {
    UnsafeBufferPointer(rebasing: self[start..<start + Int(count)])
  }
}
