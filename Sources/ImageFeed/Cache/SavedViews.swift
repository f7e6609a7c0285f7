import Foundation
import Synchronization

/// The saved feeds as last read by one subscriber; used on the thread pool.
final class SavedViews: Sendable {
  typealias Found = (address: URL, change: Result<FeedChange, FeedStoreError>)

  private let views: [URL: SavedView]
  private let store: any FeedStore
  /// The state of each feed when all feeds were last examined.
  private let noted = Mutex<[URL: CachedFeedSummary]>([:])
  /// The failure of each feed that couldn't be read when it was last examined.
  private let failures = Mutex<[URL: FeedStoreError]>([:])

  init(of addresses: [URL], in store: any FeedStore) {
    views = Dictionary(addresses.map { ($0, SavedView(of: $0, in: store)) }) { first, _ in first }
    self.store = store
  }

  /// True if the last call of ``changes()`` couldn't read a feed.
  var hasFailures: Bool { failures.withLock { !$0.isEmpty } }

  /// True if the last call of ``changes()`` couldn't read a feed, for a reason that may pass without a save.
  var mayReadMoreLater: Bool {
    failures.withLock { failures in
      failures.values.contains { !$0.cause.isDamage }
    }
  }

  /// The changes since the last call. A feed that can't be read is a failure, once until the failure changes or is over.
  func changes() -> [Found] {
    var changed = Array(views.keys)
    if changed.count > 1 {
      do throws(FeedStoreError) {
        let present = Dictionary(try store.summaries().map { ($0.address, $0) }) { first, _ in first }
        let before = noted.withLock { noted in
          defer { noted = present }
          return noted
        }
        let failed = failures.withLock { $0 }
        changed.removeAll { present[$0] == before[$0] && failed[$0] == nil }
      } catch {
        return changed.compactMap { found($0, .failure(error)) }
      }
    }
    return changed.compactMap { address in
      found(address, Result { () throws(FeedStoreError) in try views[address]?.change() })
    }
  }

  private func found(_ address: URL, _ change: Result<FeedChange?, FeedStoreError>) -> Found? {
    switch change {
    case .success(let change):
      failures.withLock { $0[address] = nil }
      return change.map { (address, .success($0)) }
    case .failure(let error):
      let last = failures.withLock { $0.updateValue(error, forKey: address) }
      return last == error ? nil : (address, .failure(error))
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
      // The feed is unchanged if it wasn't saved again, or only because of "not modified". The digest is that of the
      // first page, so later pages may differ if the feed was requested unconditionally.
      let (new, known) = (summary.validators, old.validators)
      if summary.timestamp == old.timestamp, new == known { return nil }
      if let digest = new.digest, digest == known.digest, new.wholeAsked == known.wholeAsked { return nil }
    }
    let new = summary == nil ? nil : try store.retrieve(for: address)
    seen.withLock { $0 = new }
    if old?.images == new?.images, (old == nil) == (new == nil) { return nil }
    return FeedChange(from: old?.images ?? [], to: new)
  }
}
