public import Foundation

/// An image that was seen: one that its feed has, or one that it had.
public struct SeenImage: Hashable, Sendable {
  /// The URL of its feed.
  public var address: URL
  /// The title that the feed had last. Untrusted text.
  public var feedTitle: String?
  public var image: FeedImage
  /// When a document had it for the first time, to the second.
  public var firstSeen: Date
  /// When a document had it for the last time, to the second; `nil` while the saved one has it.
  public var lastSeen: Date?
  public var isStarred: Bool
  /// ``FeedImages/isFromPrivateNetwork`` of its feed.
  public var isFromPrivateNetwork: Bool?

  public init(
    address: URL, feedTitle: String? = nil, image: FeedImage, firstSeen: Date, lastSeen: Date? = nil,
    isStarred: Bool = false, isFromPrivateNetwork: Bool? = nil
  ) {
    self.address = address
    self.feedTitle = feedTitle
    self.image = image
    self.firstSeen = firstSeen
    self.lastSeen = lastSeen
    self.isStarred = isStarred
    self.isFromPrivateNetwork = isFromPrivateNetwork
  }
}

/// Some of what was seen, the newest first, and where the next part begins.
public struct SeenPage: Hashable, Sendable {
  public var images: [SeenImage]
  /// `nil` when nothing follows.
  public var next: Place?

  /// A place in a list that grows at its beginning.
  ///
  /// Its text can be kept and read again: it is true of the same file.
  public struct Place: Hashable, Sendable, LosslessStringConvertible {
    let rank: Int64
    let id: Int64

    init(rank: Int64, id: Int64) { (self.rank, self.id) = (rank, id) }

    public init?(_ description: String) {
      let numbers = description.split(separator: ".", omittingEmptySubsequences: false).map { Int64($0) }
      guard numbers.count == 2, let rank = numbers[0], let id = numbers[1] else { return nil }
      self.init(rank: rank, id: id)
    }

    public var description: String { "\(rank).\(id)" }
  }

  public init(images: [SeenImage], next: Place? = nil) {
    self.images = images
    self.next = next
  }
}

/// A question for what was seen.
public struct SeenQuery: Hashable, Sendable {
  /// Words that the title, the text, the alternative text or the place has, all of them; a word that ends with `*` is the
  /// beginning of one. Anything when empty.
  public var words: String
  /// The last word is the beginning of one: somebody is typing it.
  public var isTyping: Bool
  /// Of these feeds alone; of all when `nil`.
  public var feeds: [URL]?
  public var isStarred: Bool
  /// Only what no saved feed has any more.
  public var isKept: Bool
  /// The most images of one answer.
  public var limit: Int
  public var after: SeenPage.Place?

  public init(
    _ words: String = "", isTyping: Bool = false, feeds: [URL]? = nil, isStarred: Bool = false, isKept: Bool = false,
    limit: Int = 100,
    after: SeenPage.Place? = nil
  ) {
    self.words = words
    self.isTyping = isTyping
    self.feeds = feeds
    self.isStarred = isStarred
    self.isKept = isKept
    self.limit = limit
    self.after = after
  }
}

/// How much of what was seen can be found by its words.
public struct IndexProgress: Hashable, Sendable {
  /// Items of feeds whose index is up to date.
  public var indexed: Int
  /// Items of all feeds.
  public var total: Int

  public init(indexed: Int = 0, total: Int = 0) {
    self.indexed = indexed
    self.total = total
  }

  public var isComplete: Bool { indexed >= total }
}

/// How much a store keeps beside the saved feeds.
public struct HistorySummary: Hashable, Sendable {
  /// Items that no saved feed has any more.
  public var kept: Int
  public var starred: Int

  public init(kept: Int = 0, starred: Int = 0) {
    self.kept = kept
    self.starred = starred
  }
}
