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
      return try rebuildingIndex(after: error) { tables, isNew -> SeenPage? in
        if isNew { return try tables.found(query) }
        do { return try tables.found(query) } catch  where FeedDatabaseFailure(error).isDamage { return nil }
      } ?? SeenPage(images: [])
    }
  }

  /// Brings the index up to date, and builds a damaged one again.
  private func updateIndex(atMost limit: Int = .max) throws(FeedStoreError) {
    do throws(FeedStoreError) {
      _ = try write(.insertion, creating: false, settingAside: false) { tables, _ in
        try tables.updateIndex(atMost: limit)
      }
    } catch {
      _ = try rebuildingIndex(after: error) { tables, isNew -> Void? in
        try isNew || tables.isIndexed() ? () : nil
      }
    }
  }

  /// Builds the index again after a failure that damage caused. Never renames the file, because only the index, which
  /// is derived from the rest, may be damaged.
  ///
  /// All feeds are indexed in one transaction, for which other processes wait. If something else is damaged, the
  /// transaction is undone: otherwise, each search would abandon the pages of an index.
  ///
  /// - Parameter use: uses the index: first, the present one, which another process may have built meanwhile, and then,
  ///   if the result is `nil`, the new one.
  /// - Throws: `failure`, unless a new index helps.
  private func rebuildingIndex<R: Sendable>(
    after failure: FeedStoreError, _ use: (_ tables: FeedTables, _ isNew: Bool) throws -> R?
  ) throws(FeedStoreError) -> R? {
    let file = CacheFile(path: path).identity
    guard failure.cause.isDamage, let file, damagedBeyondIndex.withLock({ !file.isSameFile(as: $0) }) else {
      throw failure
    }
    do throws(FeedStoreError) {
      return try write(.insertion, creating: false, settingAside: false) { tables, _ -> R? in
        if let result = try use(tables, false) { return result }
        try tables.forgetIndex()
        try tables.updateIndex()
        return try use(tables, true)
      } ?? nil
    } catch {
      if error.cause.isDamage { damagedBeyondIndex.withLock { $0 = file } }
      throw failure
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
