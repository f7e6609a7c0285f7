import Foundation

/// A change in a saved feed since its subscriber's last read.
public struct FeedChange: Hashable, Sendable {
  /// The feed as it is saved now; `nil` when it was deleted.
  public var feed: CachedFeed?
  /// The positions of the added images in the feed.
  public var added: [Int]
  /// The removed images, in their former order.
  public var removed: [FeedImage]
  /// The images that moved: the smallest set that explains the new order.
  public var moved: [Move]
  /// The positions of images whose text or URL changed under the same id.
  public var edited: [Int]

  /// An image that moved.
  public struct Move: Hashable, Sendable {
    /// The former position.
    public var from: Int
    /// The current position.
    public var to: Int

    public init(from: Int, to: Int) {
      self.from = from
      self.to = to
    }
  }

  /// The change from one list of images to the next. If an id occurs several times in a feed, only its first position
  /// counts.
  public init(from old: FeedImages, to feed: CachedFeed?) {
    self.feed = feed
    let new = feed?.images ?? []
    let (before, after) = (old.firstPlaces, new.firstPlaces)
    removed = old.indices.filter { before[old.id(at: $0)] == $0 && after[old.id(at: $0)] == nil }.map { old[$0] }
    added = new.indices.filter { after[new.id(at: $0)] == $0 && before[new.id(at: $0)] == nil }
    let stayed = new.indices.compactMap { place -> Move? in
      let id = new.id(at: place)
      return after[id] == place ? before[id].map { Move(from: $0, to: place) } : nil
    }
    let unmoved = Self.longestRise(of: stayed.map(\.from))
    moved = stayed.indices.filter { !unmoved.contains($0) }.map { stayed[$0] }
    edited = stayed.filter { old[$0.from] != new[$0.to] }.map(\.to)
  }

  /// The positions of a longest increasing subsequence of `values`: the elements that did not move.
  private static func longestRise(of values: [Int]) -> Set<Int> {
    // `ends`: for each length, the position of the smallest value that ends an increasing subsequence of that length.
    // `previous`: for each position, the one before it in its subsequence.
    var ends: [Int] = []
    var previous: [Int?] = []
    for (position, value) in values.enumerated() {
      var (low, high) = (0, ends.count)
      while low < high {
        let middle = (low + high) / 2
        if values[ends[middle]] < value { low = middle + 1 } else { high = middle }
      }
      previous.append(low > 0 ? ends[low - 1] : nil)
      if low == ends.count { ends.append(position) } else { ends[low] = position }
    }
    return Set(sequence(first: ends.last) { $0.flatMap { previous[$0] } }.prefix { $0 != nil }.compactMap { $0 })
  }
}

extension FeedImages {
  /// The first position of each id.
  var firstPlaces: [FeedImage.ID: Int] {
    Dictionary(indices.map { (id(at: $0), $0) }) { first, _ in first }
  }
}
