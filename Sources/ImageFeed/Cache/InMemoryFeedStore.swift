public import Foundation
import Synchronization

/// A store that forgets everything when the process ends: for tests, and for programs that write nothing to disk.
public final class InMemoryFeedStore: FeedStore, ShownImagesStore {
  private let feeds: Mutex<[URL: CachedFeed]>
  let notes = Mutex<[NoteKey: any StoredNote]>([:])
  let bell = StoreBell()
  private let shown = Mutex<[URL: ShownImages]>([:])
  private let fault: @Sendable (FeedStoreError.Step) -> FeedStoreError.Cause?

  /// Creates a store.
  ///
  /// - Parameters:
  ///   - feeds: its initial content.
  ///   - fault: called before every step; if it returns a cause, the step fails with that cause. The closure must be
  ///     quick, and must not call the store.
  public init(
    _ feeds: [URL: CachedFeed] = [:],
    fault: @escaping @Sendable (FeedStoreError.Step) -> FeedStoreError.Cause? = { _ in nil }
  ) {
    self.feeds = Mutex(Dictionary(feeds.map { ($0.key.absoluteURL, $0.value) }) { _, last in last })
    self.fault = fault
  }

  public func retrieve(for address: URL) throws(FeedStoreError) -> CachedFeed? {
    try feeds.withLock { feeds throws(FeedStoreError) in
      try attempt(.retrieval)
      return feeds[address.absoluteURL]
    }
  }

  public func replace(
    for address: URL, with feed: CachedFeed, now: Date
  ) throws(FeedStoreError) -> FeedReplacement {
    defer { bell.ring() }
    return try feeds.withLock { feeds throws(FeedStoreError) in
      let saved = feeds[address.absoluteURL]
      if let saved, FeedCachePolicy.isSuperseded(feed.timestamp, by: saved.timestamp, now: now) {
        return .superseded(by: saved.timestamp)
      }
      if let saved, saved.images != feed.images { try attempt(.deletion) }
      try attempt(.insertion)
      feeds[address.absoluteURL] = feed
      return saved?.images == feed.images ? .renewed : .replaced
    }
  }

  public func renew(
    for address: URL, with renewal: FeedRenewal, now: Date
  ) throws(FeedStoreError) -> FeedReplacement? {
    defer { bell.ring() }
    return try feeds.withLock { feeds throws(FeedStoreError) in
      guard let saved = feeds[address.absoluteURL], saved.validators == renewal.since else { return nil }
      if FeedCachePolicy.isSuperseded(renewal.timestamp, by: saved.timestamp, now: now) {
        return .superseded(by: saved.timestamp)
      }
      try attempt(.insertion)
      feeds[address.absoluteURL] = CachedFeed(
        saved.images, timestamp: renewal.timestamp, validators: renewal.validators)
      return .renewed
    }
  }

  @discardableResult public func delete(
    for address: URL, if condition: FeedDeletionCondition
  ) throws(FeedStoreError) -> Bool {
    defer { bell.ring() }
    return try changingNotes { feeds, notes throws(FeedStoreError) in
      guard let saved = feeds[address.absoluteURL] else { return false }
      switch condition {
      case .always: break
      case .timestamp(let timestamp): guard saved.timestamp == timestamp else { return false }
      case .unreadable: guard fault(.retrieval) != nil else { return false }
      }
      try attempt(.deletion)
      feeds[address.absoluteURL] = nil
      if condition == .always { notes.removeNotes(ofFeed: address) }
      return true
    }
  }

  public func summaries() throws(FeedStoreError) -> [CachedFeedSummary] {
    try feeds.withLock { feeds throws(FeedStoreError) in
      try attempt(.retrieval)
      return feeds.map {
        CachedFeedSummary(address: $0.key, timestamp: $0.value.timestamp, imageCount: $0.value.images.count)
      }.sorted { $0.address.absoluteString < $1.address.absoluteString }
    }
  }

  public func deleteAll() throws(FeedStoreError) {
    defer { bell.ring() }
    try changingNotes { feeds, notes throws(FeedStoreError) in
      try attempt(.deletion)
      feeds = [:]
      notes.removeNotes()
    }
  }

  public func shownImages(for address: URL) throws(FeedStoreError) -> ShownImages? {
    try attempt(.retrieval)
    return shown.withLock { $0[address.absoluteURL] }
  }

  public func changeShownImages(
    for address: URL, _ change: (inout ShownImages?) -> Void
  ) throws(FeedStoreError) {
    try attempt(.insertion)
    shown.withLock { change(&$0[address.absoluteURL]) }
  }

  /// Locks the notes before the feeds, as their transactions do.
  private func changingNotes<R: Sendable>(
    _ body: (inout [URL: CachedFeed], inout [NoteKey: any StoredNote]) throws(FeedStoreError) -> R
  ) throws(FeedStoreError) -> R {
    try notes.withLock { notes throws(FeedStoreError) in
      try feeds.withLock { feeds throws(FeedStoreError) in try body(&feeds, &notes) }
    }
  }

  func attempt(_ step: FeedStoreError.Step) throws(FeedStoreError) {
    if let cause = fault(step) { throw FeedStoreError(step, cause, place: "memory") }
  }
}
