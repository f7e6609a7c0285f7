public import Foundation

/// The images of one feed that have been shown, by their ids; all others are new.
///
/// This record remembers the images that the feed had when it was last shown, and the latest 10,000 former ones. So an
/// item that a feed drops and lists again isn't new again.
public struct ShownImages: Hashable, Sendable {
  /// The maximum number of remembered images that the feed no longer lists.
  public static let kept = 10_000

  /// The ids, most recently added last.
  private(set) var ids: [FeedImage.ID]

  public init() { ids = [] }

  /// The ids of a feed.
  public init(_ images: FeedImages) {
    self.init()
    add(images)
  }

  init(ids: [FeedImage.ID]) { self.ids = ids }

  /// Adds all current images of a feed.
  public mutating func add(_ images: FeedImages) {
    let present = Set(images.indices.map(images.id(at:)))
    ids.removeAll(where: present.contains)
    ids = ids.suffix(Self.kept) + present.sorted(in: images)
  }

  /// Adds one image of a feed, whose other images may not have been shown.
  public mutating func add(_ id: FeedImage.ID) {
    if !ids.contains(id) { ids.append(id) }
  }

  /// True if nothing has been shown.
  public var isEmpty: Bool { ids.isEmpty }

  /// The indices in `images` of those that have not been shown, each id once.
  public func new(in images: FeedImages) -> [Int] {
    var known = Set(ids)
    return images.indices.filter { known.insert(images.id(at: $0)).inserted }
  }
}

extension Set<FeedImage.ID> {
  /// The ids, each only once, in the feed's order.
  fileprivate func sorted(in images: FeedImages) -> [FeedImage.ID] {
    var rest = self
    return images.indices.compactMap { rest.remove(images.id(at: $0)) }
  }
}

/// Records which images of each feed have been shown, next to the feeds themselves.
///
/// Calls block, like those of ``FeedStore``.
public protocol ShownImagesStore: FeedStore {
  /// The record of a feed's shown images, or `nil`. Changes nothing.
  func shownImages(for address: URL) throws(FeedStoreError) -> ShownImages?

  /// Changes the record of a feed's shown images, which is `nil` if there is none. Nothing else changes the record
  /// between the read and the write, not even another process. The record is kept when the feed is deleted, until
  /// ``HistoryStore/forgetHistory(of:)``.
  ///
  /// - Parameter change: may be called more than once; only the last result counts.
  func changeShownImages(for address: URL, _ change: (inout ShownImages?) -> Void) throws(FeedStoreError)
}
