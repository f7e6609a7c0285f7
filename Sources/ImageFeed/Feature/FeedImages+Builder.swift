import FeedFormats
import Foundation

extension FeedImages {
  /// Collects images.
  struct Builder {
    private var records: [Record] = []
    private var texts: [UInt8] = []
    var omittedItems = 0
    var polling: PollingHints?
    var title: String?
    var next: URL?
    var isFromPrivateNetwork: Bool?
    private var imageless: [Imageless] = []
    private var imagelessBytes = 0

    /// - Parameter textBytes: the number of bytes of text, if known.
    init(count: Int, textBytes: Int = 0) {
      records.reserveCapacity(count)
      texts.reserveCapacity(textBytes)
      // The arrays are still empty, but their memory is reserved.
      records.withUnsafeMutableBytes { memory in
        preferLargePages(for: .init(start: memory.baseAddress, count: count * MemoryLayout<Record>.stride))
      }
      texts.withUnsafeMutableBytes { preferLargePages(for: .init(start: $0.baseAddress, count: textBytes)) }
    }

    var count: Int { records.count }

    /// Records an item without an image, after the appended ones, if the limits allow it.
    ///
    /// - Parameter item: the item, whose URL is the URL of its page; `nil` for an item without a page.
    mutating func omit(_ item: FeedImage?) {
      omittedItems += 1
      guard let item, imageless.count < Imageless.most else { return }
      let size = item.byteCount
      guard imagelessBytes + size <= Imageless.mostBytes else { return }
      imagelessBytes += size
      imageless.append(Imageless(item: item, after: records.last?.id))
    }

    mutating func append(_ image: FeedImage) {
      let start = texts.count
      let description = append(image.description)
      let location = append(image.location)
      let address = append(image.address.text)
      let post = PostFields.append(image.post, of: image.description, to: &texts)
      records.append(
        Record(
          id: image.id, description: description, start: start, location: location, address: address, post: post,
          isPlain: image.address.isPlain, published: image.publishedSeconds ?? Record.undated))
    }

    /// Appends an image whose text is UTF-8; ``WebAddress`` has accepted `address`.
    mutating func append(_ image: Texts) {
      let start = texts.count
      if let description = image.description { texts.append(contentsOf: description) }
      if let location = image.location { texts.append(contentsOf: location) }
      texts.append(contentsOf: image.address)
      if let post = image.post { texts.append(contentsOf: post) }
      records.append(
        Record(
          id: image.id, description: image.description.map { Int32($0.count) } ?? -1, start: start,
          location: image.location.map { Int32($0.count) } ?? -1, address: Int32(image.address.count),
          post: Int32(image.post?.count ?? 0), isPlain: image.isPlain, published: image.published ?? Record.undated))
    }

    consuming func finish() -> FeedImages {
      FeedImages(
        storage: Storage(
          records: records, texts: texts, omittedItems: omittedItems, polling: polling, title: title, next: next,
          isFromPrivateNetwork: isFromPrivateNetwork, imageless: imageless))
    }

    /// - Returns: its length.
    private mutating func append(_ text: String?) -> Int32 {
      guard let text else { return -1 }
      let start = texts.count
      texts.append(contentsOf: text.utf8)
      return Int32(texts.count - start)
    }
  }
}
