import FeedStream
import Foundation
import ImageFeed
import Synchronization

/// The marks of feeds at the start of the command. They are read before the feeds, so that a save that is waiting for
/// another process doesn't delay showing a feed.
final class RecordedMarks: Sendable {
  private struct Marks {
    var shown: ShownImages?
    var starred: Set<FeedImage.ID>
  }

  private let marks = Mutex<[URL: Marks]>([:])

  /// Reads the marks. Blocks. A feed that can't be read has no marks; the load itself reports the error.
  func read(_ addresses: [URL], in store: SQLiteFeedStore) {
    for address in addresses {
      let starred = (try? store.stars(of: address)) ?? []
      let shown = try? store.shownImages(for: address)
      if shown != nil || !starred.isEmpty { marks.withLock { $0[address] = Marks(shown: shown, starred: starred) } }
    }
  }

  /// The marks of a feed. In a feed that was never watched or browsed, nothing counts as new.
  func marks(of images: FeedImages, at address: URL) -> FeedJSON.Marks {
    guard let known = marks.withLock({ $0[address] }) else { return FeedJSON.Marks() }
    return FeedJSON.Marks(new: known.shown?.new(in: images) ?? [], starred: known.starred)
  }
}
