import FeedStream
import Foundation
import ImageFeed
import Synchronization

/// The marks of feeds, as they were when the command began: read before the feeds are, since a save that
/// waits for another process keeps nobody from seeing the feed.
final class RecordedMarks: Sendable {
  private struct Marks {
    var shown: ShownImages?
    var starred: Set<FeedImage.ID>
  }

  private let marks = Mutex<[URL: Marks]>([:])

  /// Reads them. Blocks. What cannot be read has no marks: the load itself reports what is wrong with the file.
  func read(_ addresses: [URL], in store: SQLiteFeedStore) {
    for address in addresses {
      let starred = (try? store.stars(of: address)) ?? []
      let shown = try? store.shownImages(for: address)
      if shown != nil || !starred.isEmpty { marks.withLock { $0[address] = Marks(shown: shown, starred: starred) } }
    }
  }

  /// The marks of a feed: of one that nobody has watched or browsed, nothing is new.
  func marks(of images: FeedImages, at address: URL) -> FeedJSON.Marks {
    guard let known = marks.withLock({ $0[address] }) else { return FeedJSON.Marks() }
    return FeedJSON.Marks(new: known.shown?.new(in: images) ?? [], starred: known.starred)
  }
}
