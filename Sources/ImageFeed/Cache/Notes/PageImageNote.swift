import Foundation

/// The items of a feed's latest document that have no image, and the images found on items' pages.
struct PageImageNote: StoredNote {
  /// The items without an image, in the order of the document.
  var items: [FeedImages.Imageless] = []
  /// The items whose pages were read, in the order of reading.
  private(set) var answers: [Answer] = []

  /// The result of reading an item's page.
  struct Answer {
    let id: FeedImage.ID
    /// The URL of the page's image; empty if the page has no image.
    let address: String
    /// See ``PageImageBook/isUsable(_:inPrivate:)``.
    let isTrusted: Bool?
  }

  /// The maximum number of items that are recorded per feed, besides those of its latest document: 1,000.
  static let mostAnswers = 1_000
  /// The maximum size of an image's URL: 2 KiB. A page with a longer one counts as a page without an image.
  static let longestAddress = 2 << 10
  /// The maximum size of all recorded URLs: 256 KiB. The whole note is written for each page that is read.
  static let mostBytes = 256 << 10

  init() {}

  /// The found images that a feed may have, by item.
  ///
  /// - Parameter isPrivate: the feed's ``FeedImages/isFromPrivateNetwork``.
  func found(inPrivate isPrivate: Bool?) -> [FeedImage.ID: WebAddress] {
    let usable = answers.filter { PageImageBook.isUsable($0.isTrusted, inPrivate: isPrivate) }
    return Dictionary(usable.compactMap { answer in WebAddress(answer.address).map { (answer.id, $0) } }) { $1 }
  }

  /// The items whose pages have not been read yet.
  var open: [FeedImages.Imageless] {
    let known = Set(answers.map(\.id))
    return items.filter { !known.contains($0.item.id) }
  }

  /// Records the image of an item's page; pass `nil` for a page without an image.
  mutating func take(_ address: String?, for id: FeedImage.ID, isTrusted: Bool? = nil) {
    answers.removeAll { $0.id == id }
    let address = address.flatMap { $0.utf8.count <= Self.longestAddress ? $0 : nil } ?? ""
    answers.append(Answer(id: id, address: address, isTrusted: isTrusted))
    var (count, bytes) = (answers.count, answers.reduce(0) { $0 + $1.address.utf8.count })
    guard count > Self.mostAnswers + FeedImages.Imageless.most || bytes > Self.mostBytes else { return }
    let present = Set(items.map(\.item.id))
    answers.removeAll { answer in
      guard count > Self.mostAnswers || bytes > Self.mostBytes, !present.contains(answer.id) else { return false }
      count -= 1
      bytes -= answer.address.utf8.count
      return true
    }
  }
}

extension PageImageNote {
  private static let anyPlace = [UInt8](repeating: 0, count: 20)

  init?(_ fields: NoteFields.Reader) {
    if let items = fields.bytes(1).flatMap({ FeedImages(bytes: $0) }) {
      let places = fields.bytes(2) ?? .init(start: nil, count: 0)
      guard places.count == 20 * items.count else { return nil }
      self.items = items.enumerated().map { index, item in
        let place = UnsafeRawBufferPointer(rebasing: places[20 * index..<20 * (index + 1)])
        return .init(item: item, after: place.elementsEqual(Self.anyPlace) ? nil : FeedImage.ID(stored: place))
      }
    }
    guard let stored = fields.bytes(3) else { return }
    let trust = fields.bytes(4) ?? .init(start: nil, count: 0)
    var index = 0
    while index + 22 <= stored.count {
      let id = FeedImage.ID(stored: UnsafeRawBufferPointer(rebasing: stored[index..<index + 20]))
      let length = Int(UInt16(littleEndian: stored.loadUnaligned(fromByteOffset: index + 20, as: UInt16.self)))
      guard index + 22 + length <= stored.count else { return nil }
      answers.append(
        Answer(
          id: id, address: String(decoding: stored[index + 22..<index + 22 + length], as: UTF8.self),
          isTrusted: answers.count < trust.count && trust[answers.count] < 2 ? trust[answers.count] == 1 : nil))
      index += 22 + length
    }
  }

  func put(in fields: inout NoteFields.Writer) {
    if !items.isEmpty {
      fields.put(1, FeedImages(items.map(\.item)).bytes)
      fields.put(2, items.flatMap { $0.after?.stored ?? Self.anyPlace })
    }
    guard !answers.isEmpty else { return }
    var stored: [UInt8] = []
    for answer in answers {
      // Omit a URL of more than 65,535 bytes, which no server would accept.
      let address = answer.address.utf8.count <= Int(UInt16.max) ? Array(answer.address.utf8) : []
      answer.id.append(to: &stored)
      withUnsafeBytes(of: UInt16(address.count).littleEndian) { stored.append(contentsOf: $0) }
      stored += address
    }
    fields.put(3, stored)
    fields.put(4, answers.map { answer -> UInt8 in answer.isTrusted.map { $0 ? 1 : 0 } ?? 2 })
  }
}

extension NoteKey {
  static func pageImages(of address: URL) -> NoteKey { NoteKey(.feed(3), address.absoluteString) }
}
