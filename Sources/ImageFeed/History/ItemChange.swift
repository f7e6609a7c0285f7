/// The changes in a feed's items from one document to the next.
///
/// An item is recognized by its id, which is derived from its guid, or else its link, or else its image. An item with a
/// different id is the same item if it has the same link, or, if neither has a link of its own, the same image. This
/// requires that no other item of either document has that link or image, because some feeds use one for all of their
/// items.
struct ItemChange {
  /// The positions in the old document of items that the new one doesn't list, each id once.
  private(set) var left: [Int] = []
  /// The positions in the new document of items that the old one didn't list, each id once.
  private(set) var arrived: [Int] = []
  /// The items whose ids have changed.
  private(set) var renamed: [(new: Int, old: Int)] = []
  /// The positions of ids in the old document.
  private let before: [FeedImage.ID: Int]

  init(from old: FeedImages, to new: FeedImages) {
    before = old.firstPlaces
    let after = new.firstPlaces
    left = old.indices.filter { before[old.id(at: $0)] == $0 && after[old.id(at: $0)] == nil }
    arrived = new.indices.filter { after[new.id(at: $0)] == $0 && before[new.id(at: $0)] == nil }
    match(old, new) { $0.linkDigest(at: $1) }
    guard !left.isEmpty, !arrived.isEmpty else { return }
    let links = [old, new].map { $0.places { $0.linkDigest(at: $1) } }
    match(old, new) { images, place in
      guard let link = images.linkDigest(at: place), !links.contains(where: { $0[link] == .some(nil) }) else {
        return images.addressDigest(at: place)
      }
      return nil
    }
  }

  /// The position in the old document of the item with the given id.
  func place(of id: FeedImage.ID) -> Int? { before[id] }

  /// Finds items whose ids have changed, by a feature that no other item has.
  private mutating func match(_ old: FeedImages, _ new: FeedImages, by mark: (FeedImages, Int) -> UInt64?) {
    guard !left.isEmpty, !arrived.isEmpty else { return }
    let (olds, news) = (old.places(by: mark), new.places(by: mark))
    let leaving = Set(left)
    var found: Set<Int> = []
    arrived.removeAll { place in
      guard let mark = mark(new, place), news[mark] == .some(place), let was = olds[mark] ?? nil, leaving.contains(was)
      else { return false }
      renamed.append((place, was))
      found.insert(was)
      return true
    }
    left.removeAll(where: found.contains)
  }
}

extension FeedImages {
  /// For each feature, the position of the item that has it; `nil` for a feature that several items have.
  func places(by mark: (FeedImages, Int) -> UInt64?) -> [UInt64: Int?] {
    var places: [UInt64: Int?] = [:]
    for index in indices {
      guard let mark = mark(self, index) else { continue }
      places[mark] = places[mark] == nil ? .some(index) : .some(nil)
    }
    return places
  }

  /// Identifies the URL of an item's page.
  func linkDigest(at position: Int) -> UInt64? {
    withTexts(at: position) { texts in
      texts.post.flatMap { post in
        PostFields(post).first { $0.kind == .link }.map { BodyDigest($0.text).value }
      }
    }
  }

  /// Identifies the URL of an image.
  func addressDigest(at position: Int) -> UInt64 {
    withTexts(at: position) { BodyDigest($0.address).value }
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
