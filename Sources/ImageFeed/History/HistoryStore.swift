public import Foundation

/// Keeps the history of feeds, and stars, next to the saved feeds.
///
/// An item that is dropped from its feed's document moves to the history in the same transaction; if it is listed
/// again, it returns to the feed. Calls block, like those of ``FeedStore``.
public protocol HistoryStore: FeedStore {
  /// A feed's former items, newest first by publication date, or else by when they were first seen. Changes nothing.
  ///
  /// - Parameters:
  ///   - place: the position to continue from; `nil` for the beginning.
  ///   - limit: the maximum number of items.
  func history(of address: URL, after place: SeenPage.Place?, limit: Int) throws(FeedStoreError) -> SeenPage

  /// The items that match a query, newest first. The first query after a change updates the word index.
  func seen(_ query: SeenQuery) throws(FeedStoreError) -> SeenPage

  /// The items with the given name: the text of an id, or the URL of a post or an image. Current items come before
  /// former ones. Changes nothing.
  func items(named name: String) throws(FeedStoreError) -> [SeenImage]

  /// The ids of a feed's starred items. Changes nothing.
  func stars(of address: URL) throws(FeedStoreError) -> Set<FeedImage.ID>

  /// Stars a current or former item, or removes its star, even if the item can't be read.
  ///
  /// - Returns: false when there is no such item, or when the item to star can't be read.
  @discardableResult func setStar(
    _ isStarred: Bool, _ id: FeedImage.ID, of address: URL, now: Date
  ) throws(FeedStoreError) -> Bool

  /// The URLs of the images of all starred items. Changes nothing. Pass this to a ``DiskImageStore`` to keep the
  /// images.
  func starredImages() throws(FeedStoreError) -> Set<URL>

  /// Updates part of the word index in its own transaction, one feed after another, until `limit` items have been
  /// read; does nothing if `limit` is 0.
  ///
  /// - Returns: the number of indexed items and of all items; equal if ``seen(_:)`` has nothing to index.
  func index(atMost limit: Int) throws(FeedStoreError) -> IndexProgress

  /// The size of the history. Changes nothing.
  func historySummary() throws(FeedStoreError) -> HistorySummary

  /// Deletes a feed's history, its stars, and the record of its shown images; `nil` for all feeds.
  func forgetHistory(of address: URL?) throws(FeedStoreError)
}
