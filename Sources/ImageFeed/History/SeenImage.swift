public import Foundation

/// A current or former image of a feed.
public struct SeenImage: Hashable, Sendable {
  /// The URL of the image's feed.
  public var address: URL
  /// The feed's last title. Untrusted text.
  public var feedTitle: String?
  public var image: FeedImage
  /// The time when a document first listed the image, to the second.
  public var firstSeen: Date
  /// The time when a document last listed the image, to the second; `nil` while the saved document lists the image.
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

/// A page of the history, newest first, and the position where the next page begins.
public struct SeenPage: Hashable, Sendable {
  public var images: [SeenImage]
  /// The position where the next page begins; `nil` if there is no next page.
  public var next: Place?

  /// A position in a list that grows at its beginning.
  ///
  /// A position can be stored as text. It is valid only for the file that it was read from.
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

/// A query of the history.
public struct SeenQuery: Hashable, Sendable {
  /// The words to search for. Each must occur in the title, the text, the alternative text or the location; a word that
  /// ends with `*` matches words that begin with it. An empty string matches any item.
  public var words: String
  /// True if the last word is still being typed, and matches words that begin with it.
  public var isTyping: Bool
  /// The feeds to search; `nil` for all.
  public var feeds: [URL]?
  public var isStarred: Bool
  /// True to find only former items.
  public var isKept: Bool
  /// The maximum number of images per page.
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

/// The progress of the word index.
public struct IndexProgress: Hashable, Sendable {
  /// The number of items in feeds whose index is up to date.
  public var indexed: Int
  /// The number of items in all feeds.
  public var total: Int

  public init(indexed: Int = 0, total: Int = 0) {
    self.indexed = indexed
    self.total = total
  }

  public var isComplete: Bool { indexed >= total }
}

/// The size of the history, without the saved feeds.
public struct HistorySummary: Hashable, Sendable {
  /// The number of items that no saved feed lists anymore.
  public var kept: Int
  public var starred: Int

  public init(kept: Int = 0, starred: Int = 0) {
    self.kept = kept
    self.starred = starred
  }
}
