public import Foundation

extension SQLiteFeedStore: HistoryStore {
  public func history(
    of address: URL, after place: SeenPage.Place?, limit: Int
  ) throws(FeedStoreError) -> SeenPage {
    try read { try $0.kept(of: address, after: place, limit: limit) } ?? SeenPage(images: [])
  }

  public func seen(_ query: SeenQuery) throws(FeedStoreError) -> SeenPage {
    // If the index is up to date, don't write, so that the query works in a read-only folder, too.
    if let isIndexed = try read({ try $0.isIndexed() }), !isIndexed { try updateIndex() }
    do throws(FeedStoreError) {
      return try read { try $0.found(query) } ?? SeenPage(images: [])
    } catch {
      guard error.cause.isDamage else { throw error }
      try updateIndex(fromScratch: true)
      return try read { try $0.found(query) } ?? SeenPage(images: [])
    }
  }

  /// Brings the index up to date, and builds a damaged one again. Never renames the file, because only the index, which
  /// is derived from the rest, may be damaged.
  private func updateIndex(atMost limit: Int = .max, fromScratch: Bool = false) throws(FeedStoreError) {
    do throws(FeedStoreError) {
      _ = try write(.insertion, creating: false, settingAside: false) { tables, _ in
        if fromScratch { try tables.forgetIndex() }
        try tables.updateIndex(atMost: limit)
      }
    } catch {
      guard error.cause.isDamage, !fromScratch else { throw error }
      try updateIndex(atMost: limit, fromScratch: true)
    }
  }

  public func items(named name: String) throws(FeedStoreError) -> [SeenImage] {
    try read { try $0.items(named: name) } ?? []
  }

  public func stars(of address: URL) throws(FeedStoreError) -> Set<FeedImage.ID> {
    try read { tables in try tables.historyRow(of: address).map { try tables.stars(of: $0) } ?? [] } ?? []
  }

  @discardableResult public func setStar(
    _ isStarred: Bool, _ id: FeedImage.ID, of address: URL, now: Date
  ) throws(FeedStoreError) -> Bool {
    try write(.insertion, creating: false) { tables, _ in
      try tables.setStar(isStarred, id, of: address, now: now)
    } ?? false
  }

  public func starredImages() throws(FeedStoreError) -> Set<URL> {
    try read { try $0.starredImages() } ?? []
  }

  public func index(atMost limit: Int) throws(FeedStoreError) -> IndexProgress {
    // As in `seen(_:)`: don't write if the index is up to date.
    if limit > 0, let isIndexed = try read({ try $0.isIndexed() }), !isIndexed { try updateIndex(atMost: limit) }
    return try read { try $0.indexProgress() } ?? IndexProgress()
  }

  public func historySummary() throws(FeedStoreError) -> HistorySummary {
    try read { try $0.historySummary() } ?? HistorySummary()
  }

  public func forgetHistory(of address: URL?) throws(FeedStoreError) {
    _ = try write(.deletion, creating: false) { tables, _ in try tables.forgetHistory(of: address) }
  }
}
