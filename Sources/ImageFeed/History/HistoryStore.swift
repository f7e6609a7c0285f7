public import Foundation

/// Keeps what was seen, and what a person thinks of it, beside the saved feeds.
///
/// An item that leaves its feed's document, however that comes, is kept in the same transaction; one that comes back is the
/// feed's again. Calls block, as those of ``FeedStore`` do.
public protocol HistoryStore: FeedStore {
  /// The items that a feed has no more, the newest first: by when they were published, or else first seen. Changes nothing.
  ///
  /// - Parameters:
  ///   - place: where to go on; `nil` for the beginning.
  ///   - limit: how many at most.
  func history(of address: URL, after place: SeenPage.Place?, limit: Int) throws(FeedStoreError) -> SeenPage

  /// The items that fit a question, the newest first. The first question after a change brings the index of words up to date.
  func seen(_ query: SeenQuery) throws(FeedStoreError) -> SeenPage

  /// The items that a name stands for: an id's text, or the URL of a post or an image. What feeds have comes before what they
  /// had. Changes nothing.
  func items(named name: String) throws(FeedStoreError) -> [SeenImage]

  /// The ids of a feed's starred items. Changes nothing.
  func stars(of address: URL) throws(FeedStoreError) -> Set<FeedImage.ID>

  /// Stars an item that a feed has or had, or takes its star away.
  ///
  /// - Returns: false when there is no such item.
  @discardableResult func setStar(
    _ isStarred: Bool, _ id: FeedImage.ID, of address: URL, now: Date
  ) throws(FeedStoreError) -> Bool

  /// The URLs of the images of all starred items. Changes nothing. A ``DiskImageStore`` that is given this keeps them.
  func starredImages() throws(FeedStoreError) -> Set<URL>

  /// Brings a part of the index of words up to date, in a transaction of its own: of one feed after another, until
  /// `limit` items were read; nothing when that is 0.
  ///
  /// - Returns: how many items of how many are indexed; equal when ``seen(_:)`` has nothing to index.
  func index(atMost limit: Int) throws(FeedStoreError) -> IndexProgress

  /// How much there is. Changes nothing.
  func historySummary() throws(FeedStoreError) -> HistorySummary

  /// Forgets what a feed had, its stars, and what was shown of it; of all feeds when `nil`.
  func forgetHistory(of address: URL?) throws(FeedStoreError)
}
