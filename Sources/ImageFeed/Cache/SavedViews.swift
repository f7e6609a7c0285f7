import Foundation
import Synchronization

/// The saved feeds as last read by one subscriber; used on the thread pool.
final class SavedViews: Sendable {
  typealias Found = (address: URL, change: Result<FeedChange, FeedStoreError>)

  private let views: [URL: SavedView]
  private let store: any FeedStore
  /// The state of each feed when all feeds were last examined.
  private let noted = Mutex<[URL: CachedFeedSummary]>([:])

  init(of addresses: [URL], in store: any FeedStore) {
    views = Dictionary(addresses.map { ($0, SavedView(of: $0, in: store)) }) { first, _ in first }
    self.store = store
  }

  /// The changes since the last call.
  func changes() throws(FeedStoreError) -> [Found] {
    var changed = Array(views.keys)
    if changed.count > 1 {
      let present = Dictionary(try store.summaries().map { ($0.address, $0) }) { first, _ in first }
      let before = noted.withLock { noted in
        defer { noted = present }
        return noted
      }
      changed.removeAll { present[$0] == before[$0] }
    }
    return changed.compactMap { address in
      let change = Result { () throws(FeedStoreError) in try views[address]?.change() }
      switch change {
      case .success(nil): return nil
      case .success(let change?): return (address, .success(change))
      case .failure(let error):
        // Read the feed again at the next change, even if that is another feed's.
        noted.withLock { $0[address] = nil }
        return (address, .failure(error))
      }
    }
  }
}

/// A saved feed as last read by one subscriber.
private final class SavedView: Sendable {
  private let address: URL
  private let store: any FeedStore
  private let seen = Mutex<CachedFeed?>(nil)

  init(of address: URL, in store: any FeedStore) {
    self.address = address
    self.store = store
  }

  /// The change since the last call; `nil` if nothing has changed.
  func change() throws(FeedStoreError) -> FeedChange? {
    let old = seen.withLock { $0 }
    let summary = try store.summary(for: address)
    // An image found on an item's page is added without a new document.
    if let old, let summary, summary.imageCount == old.images.count {
      // The feed is unchanged if it wasn't saved again, or if the server sent the same bytes again.
      if summary.timestamp == old.timestamp, summary.validators == old.validators { return nil }
      if let digest = summary.validators.digest, digest == old.validators.digest { return nil }
    }
    let new = summary == nil ? nil : try store.retrieve(for: address)
    seen.withLock { $0 = new }
    if old?.images == new?.images, (old == nil) == (new == nil) { return nil }
    return FeedChange(from: old?.images ?? [], to: new)
  }
}
