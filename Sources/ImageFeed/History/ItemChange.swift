/// The changes in a feed's items from one document to the next.
///
/// An item is recognized by its id, which is derived from its guid, or else its link, or else its image. An item with a
/// different id is the same item if it has the same link, or, if neither has a link, the same image. This requires that
/// no other item of either document has that link or image, because some feeds use one for all of their items. Other
/// feeds list one item at a time, always with the same link: an item with another date and image isn't the same.
///
/// If several items share a link in only one of the documents, their ids may have changed for this reason. Then an item
/// is the same if it is the only one with its link and image. If they share the link in both documents, an item is the
/// same if it is the only one with its link, image and date, or, without a date, with its link, image and title.
struct ItemChange {
  /// The positions in the old document of items that the new one doesn't list, each id once.
  private(set) var left: [Int] = []
  /// The positions in the new document of items that the old one didn't list, each id once.
  private(set) var arrived: [Int] = []
  /// The items whose ids have changed.
  private(set) var renamed: [(new: Int, old: Int)] = []
  /// The links of the new document; `nil` if they weren't needed.
  private(set) var links: ItemMarks?
  /// The positions of ids in the old document.
  private let before: [FeedImage.ID: Int]

  init(from old: FeedImages, to new: FeedImages) {
    before = old.firstPlaces
    let after = new.firstPlaces
    left = old.indices.filter { before[old.id(at: $0)] == $0 && after[old.id(at: $0)] == nil }
    arrived = new.indices.filter { after[new.id(at: $0)] == $0 && before[new.id(at: $0)] == nil }
    guard !left.isEmpty, !arrived.isEmpty else { return }
    let (olds, news) = (ItemMarks(linksOf: old), ItemMarks(linksOf: new))
    links = news
    func isOther(_ was: Int, _ place: Int) -> Bool { new[place].isOther(than: old[was]) }
    match(olds, news, unless: isOther)
    guard !left.isEmpty, !arrived.isEmpty else { return }
    func marks(_ images: FeedImages, _ links: ItemMarks) -> ItemMarks {
      ItemMarks(
        images.indices.map { place in
          guard let link = links.all[place] else { return images.imageDigest(at: place) }
          switch (olds.isShared(link), news.isShared(link)) {
          case (false, false): return nil
          case (true, true):
            return images.detailDigest(at: place).map { images.imageDigest(at: place, with: [link, $0]) }
          default: return images.imageDigest(at: place, with: [link])
          }
        })
    }
    match(marks(old, olds), marks(new, news), unless: isOther)
  }

  /// The position in the old document of the item with the given id.
  func place(of id: FeedImage.ID) -> Int? { before[id] }

  /// Finds items whose ids have changed, by a feature that no other item has.
  private mutating func match(_ olds: ItemMarks, _ news: ItemMarks, unless isOther: (Int, Int) -> Bool) {
    let leaving = Set(left)
    var found: Set<Int> = []
    arrived.removeAll { place in
      guard let mark = news.unique(at: place), let was = olds.place(of: mark), leaving.contains(was),
        !isOther(was, place)
      else { return false }
      renamed.append((place, was))
      found.insert(was)
      return true
    }
    left.removeAll(where: found.contains)
  }
}

/// A feature of each item of a document, such as its link.
struct ItemMarks {
  /// The feature of each item; `nil` for an item without it.
  let all: [UInt64?]
  /// For each feature, the position of the item that has it; `nil` for a feature that several items have.
  private var places: [UInt64: Int?] = [:]

  init(_ all: [UInt64?]) {
    self.all = all
    for (index, mark) in all.enumerated() {
      guard let mark else { continue }
      places[mark] = places[mark] == nil ? .some(index) : .some(nil)
    }
  }

  init(linksOf images: FeedImages) { self.init(images.indices.map { images.linkDigest(at: $0) }) }

  /// The position of the only item that has a feature.
  func place(of mark: UInt64) -> Int? { places[mark] ?? nil }

  /// True if several items have a feature.
  func isShared(_ mark: UInt64) -> Bool { places[mark] == .some(nil) }

  /// The feature of an item, if no other item has it.
  func unique(at position: Int) -> UInt64? { all[position].flatMap { place(of: $0) == position ? $0 : nil } }
}

extension FeedImage {
  /// True if this item, which has the link of `old` but not its id, is another item, and not an edited version.
  func isOther(than old: FeedImage) -> Bool {
    guard let date = publishedSeconds, let oldDate = old.publishedSeconds else { return false }
    return date != oldDate && addressText != old.addressText
  }
}

extension FeedImages {
  /// Identifies the URL of an item's page.
  func linkDigest(at position: Int) -> UInt64? {
    withTexts(at: position) { texts in
      texts.post.flatMap { post in
        PostFields(post).first { $0.kind == .link }.map { BodyDigest($0.text).value }
      }
    }
  }

  /// Identifies the URL of an image, together with other features.
  fileprivate func imageDigest(at position: Int, with others: [UInt64] = []) -> UInt64 {
    let image = withTexts(at: position) { BodyDigest($0.address).value }
    return others.isEmpty ? image : ([image] + others).withUnsafeBytes { BodyDigest($0).value }
  }

  /// Identifies the date of an item, or, without a date, its title.
  fileprivate func detailDigest(at position: Int) -> UInt64? {
    if let date = published(at: position) { return UInt64(bitPattern: date) }
    return withTexts(at: position) { texts in
      let title = texts.post.flatMap { post in
        PostFields(post).first { $0.kind == .title || $0.kind == .sameTitle }
      }
      guard let title else { return nil }
      let text = title.kind == .title ? title.text : texts.description
      return text.map { BodyDigest($0).value }
    }
  }
}

/// The times when the images of a document were first seen, in seconds since 1970, one per image.
///
/// They are stored as runs of the same time: the number of images in four bytes, and the time in eight. Most documents
/// have few runs.
struct FirstSeen: Equatable {
  var times: [Int64]

  init(_ times: [Int64]) { self.times = times }

  /// Reads the format that ``bytes`` writes; `other` for missing or invalid bytes.
  init(_ bytes: UnsafeRawBufferPointer, count: Int, or other: Int64) {
    times = []
    times.reserveCapacity(count)
    var place = 0
    while place + 12 <= bytes.count, times.count < count {
      let length = UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: place, as: UInt32.self))
      let time = Int64(littleEndian: bytes.loadUnaligned(fromByteOffset: place + 4, as: Int64.self))
      times.append(contentsOf: repeatElement(time, count: min(Int(length), count - times.count)))
      place += 12
    }
    times.append(contentsOf: repeatElement(other, count: count - times.count))
  }

  var bytes: [UInt8] {
    var bytes: [UInt8] = []
    var start = times.startIndex
    while start < times.endIndex {
      let end = times[start...].firstIndex { $0 != times[start] } ?? times.endIndex
      withUnsafeBytes(of: UInt32(end - start).littleEndian) { bytes.append(contentsOf: $0) }
      withUnsafeBytes(of: times[start].littleEndian) { bytes.append(contentsOf: $0) }
      start = end
    }
    return bytes
  }
}
