public import Foundation

/// Keeps the data of images: the port between images and a disk.
///
/// Every call **blocks** until it is done: make it on a thread pool, never on an event loop. A store may be called from
/// any thread. A call that throws has no visible effect.
public protocol ImageStore: Sendable {
  /// The image saved for `url`, whatever its age; `nil` if there is none. The image counts as used at `now`.
  func retrieve(for url: URL, now: Date) throws(FeedStoreError) -> Saved<FetchedImage>?

  /// Saves an image, replacing any previous one, and makes room for it by deleting the least recently used ones.
  ///
  /// - Returns: false if the image is too large to keep.
  @discardableResult
  func save(_ image: Saved<FetchedImage>, for url: URL, now: Date) throws(FeedStoreError) -> Bool

  /// True if the image of `url` must stay as it is: no smaller copy may take its place.
  func isKept(_ url: URL) throws(FeedStoreError) -> Bool

  /// Deletes the image of `url`; does nothing if there is none.
  func delete(for url: URL) throws(FeedStoreError)

  /// Deletes every image.
  func deleteAll() throws(FeedStoreError)

  /// The number of images, their total bytes, and the limit.
  func usage() throws(FeedStoreError) -> ImageStoreUsage

  /// Returns the known facts about these images, from earlier decoding.
  func facts(for urls: [URL]) throws(FeedStoreError) -> [URL: ImageFacts]

  /// Saves the facts about an image, for as long as the image is stored.
  func note(_ facts: ImageFacts, for url: URL) throws(FeedStoreError)
}

extension ImageStore {
  /// False by default, for stores that may delete any image.
  public func isKept(_ url: URL) throws(FeedStoreError) -> Bool { false }

  /// Returns nothing by default, for stores that don't keep facts.
  public func facts(for urls: [URL]) throws(FeedStoreError) -> [URL: ImageFacts] { [:] }

  /// Does nothing by default, for stores that don't keep facts; the facts are then determined again.
  public func note(_ facts: ImageFacts, for url: URL) throws(FeedStoreError) {}
}

/// The size of an image store.
public struct ImageStoreUsage: Hashable, Sendable {
  public var count: Int
  /// The number of bytes on disk, including names and times.
  public var bytes: Int
  /// The maximum number of bytes; `nil` if there is no limit.
  public var limit: Int?

  public init(count: Int, bytes: Int, limit: Int? = nil) {
    self.count = count
    self.bytes = bytes
    self.limit = limit
  }
}
