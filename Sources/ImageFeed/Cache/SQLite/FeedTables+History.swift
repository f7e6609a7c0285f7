import Foundation
import GRDB
import GRDBSQLite

/// The SQL statements for feeds' former items, which ``HistoryStore`` uses. They run inside a transaction, like those
/// of ``FeedTables``.
///
/// The items of the saved document are in its packs. An item that leaves the document becomes a row of `kept`; if the
/// item returns, the row is deleted. So a save writes only changes, no matter how much is kept.
extension FeedTables {

  /// The row of a feed's history.
  struct HistoryRow {
    let id: Int64
    var kept: Int
    /// The ``FeedImages/isFromPrivateNetwork`` of the documents that had the kept items, joined.
    var isPrivate: Bool? = nil
  }

  /// The previous document, while it is being replaced.
  struct OldDocument {
    let images: FeedImages
    let timestamp: Int64
    let firstSeen: FirstSeen
  }

  func historyRow(of address: URL) throws -> HistoryRow? {
    let row = try statement("SELECT id, kept, private FROM history WHERE address = ?")
    defer { row.clear() }
    row.bind(address.absoluteString, at: 1)
    guard try db.step(row, expecting: SQLITE_ROW), let id = row.integer(0) else { return nil }
    return HistoryRow(id: Int64(id), kept: row.integer(1) ?? 0, isPrivate: row.integer(2).map { $0 != 0 })
  }

  private func madeHistoryRow(of address: URL) throws -> HistoryRow {
    if let row = try historyRow(of: address) { return row }
    try db.cachedStatement(sql: "INSERT INTO history (address) VALUES (?)").execute(arguments: [address.absoluteString])
    return HistoryRow(id: db.lastInsertedRowID, kept: 0)
  }

  /// The saved document; `nil` when it is damaged. A transaction that fails because of damage renames the whole file.
  func oldDocument(_ feed: FeedRow) throws -> OldDocument? {
    do {
      let images = try images(of: feed)
      return OldDocument(
        images: images, timestamp: feed.timestamp.secondsSince1970,
        firstSeen: try firstSeen(of: feed, count: images.count))
    } catch let failure as FeedDatabaseFailure where failure.isDamage {
      return nil
    }
  }

  /// The times when the first `count` images of a saved feed were first seen.
  func firstSeen(of feed: FeedRow, count: Int) throws -> FirstSeen {
    let row = try statement("SELECT seen FROM feed WHERE id = ?")
    defer { row.clear() }
    row.bind(feed.id, at: 1)
    let isThere = try db.step(row, expecting: SQLITE_ROW)
    return FirstSeen(
      isThere ? row.blob(0) : .init(start: nil, count: 0), count: count, or: feed.timestamp.secondsSince1970)
  }

  /// Records the changes in a new document. Call this after the document is written.
  func noteHistory(
    from old: OldDocument?, to new: CachedFeed, of address: URL, _ policy: HistoryPolicy, now: Date
  ) throws {
    var history = try madeHistoryRow(of: address)
    let timestamp = new.timestamp.secondsSince1970
    var seen = FirstSeen(Array(repeating: timestamp, count: new.images.count))
    let change = ItemChange(from: old?.images ?? [], to: new.images)
    if let old {
      for index in new.images.indices {
        if let place = change.place(of: new.images.id(at: index)) { seen.times[index] = old.firstSeen.times[place] }
      }
      for (place, was) in change.renamed {
        seen.times[place] = old.firstSeen.times[was]
        try moveStar(of: history, from: old.images.id(at: was), to: new.images.id(at: place))
        // A former item may have had the new id.
        _ = try takeBack(place, of: new.images, links: nil, from: &history)
      }
    }
    if history.kept > 0, !change.arrived.isEmpty {
      let links = change.links ?? ItemMarks(linksOf: new.images)
      for place in change.arrived {
        if let first = try takeBack(place, of: new.images, links: links, from: &history) { seen.times[place] = first }
      }
    }
    if let old { try keep(change.left, of: old, in: &history, policy, now: now) }
    try trim(&history, policy, now: now)
    try write(history, title: new.images.title)
    let row = try statement("UPDATE feed SET seen = ? WHERE address = ?")
    defer { row.clear() }
    row.bind(seen.bytes, at: 1)
    row.bind(address.absoluteString, at: 2)
    try db.step(row, expecting: SQLITE_DONE)
  }

  /// Moves the items of a feed to the history before it is deleted. Call this before the deletion.
  func keepAll(of feed: FeedRow, at address: URL, _ policy: HistoryPolicy) throws {
    var history = try madeHistoryRow(of: address)
    if let old = try oldDocument(feed) {
      try keep(ItemChange(from: old.images, to: []).left, of: old, in: &history, policy, now: nil)
    }
    // The current time isn't known, and the feed's may be a wrong clock's: nothing is too old until the next save.
    try trim(&history, policy, now: nil)
    try write(history, title: feed.title)
  }

  /// Adds items to the history, starting with the last one in the document, because the history is trimmed in order of
  /// addition.
  private func keep(
    _ places: [Int], of old: OldDocument, in history: inout HistoryRow, _ policy: HistoryPolicy, now: Date?
  ) throws {
    guard !places.isEmpty else { return }
    let stars = try stars(of: history)
    // Don't write items that would be trimmed immediately.
    var room = policy.items
    let kept = places.filter { place in
      if stars.contains(old.images.id(at: place)) { return true }
      room -= 1
      return room >= 0
    }
    let row = try statement(
      "INSERT OR REPLACE INTO kept (history, item, rank, first, last, link, content) VALUES (?, ?, ?, ?, ?, ?, ?)")
    defer { row.clear() }
    for place in kept.reversed() {
      let first = old.firstSeen.times[place]
      row.bind(history.id, at: 1)
      row.bind(old.images.id(at: place).stored, at: 2)
      row.bind(old.images.published(at: place) ?? first, at: 3)
      row.bind(first, at: 4)
      // With a wrong clock, the document may have been saved at too early a time, and its items would count as too old.
      row.bind(max(old.timestamp, min(first, now?.secondsSince1970 ?? first)), at: 5)
      row.bind(old.images.linkDigest(at: place).map { Int64(bitPattern: $0) }, at: 6)
      row.bind(old.images.pack(of: place), at: 7)
      try db.step(row, expecting: SQLITE_DONE)
      row.reset()
    }
    let mark = old.images.isFromPrivateNetwork
    history.isPrivate = history.kept > 0 ? FeedImages.joined([history.isPrivate, mark]) : mark
    history.kept += kept.count
  }

  /// Removes a returned item from the history: the one with its id, or else the only one with its link, unless that is
  /// another item (``FeedImage/isOther(than:)``).
  ///
  /// - Parameter links: the links in the document, if the item may be found by its link; a link that several items
  ///   share identifies none of them.
  /// - Returns: the time when it was first seen; `nil` if it was not in the history.
  private func takeBack(
    _ place: Int, of images: FeedImages, links: ItemMarks?, from history: inout HistoryRow
  ) throws -> Int64? {
    guard history.kept > 0 else { return nil }
    let id = images.id(at: place)
    var found: (row: Int64, first: Int64)?
    do {
      let row = try statement("SELECT id, first FROM kept WHERE history = ? AND item = ?")
      defer { row.clear() }
      row.bind(history.id, at: 1)
      row.bind(id.stored, at: 2)
      if try db.step(row, expecting: SQLITE_ROW) { found = (Int64(row.integer(0) ?? 0), Int64(row.integer(1) ?? 0)) }
    }
    if found == nil, let link = links?.unique(at: place) {
      let row = try statement("SELECT id, first, item, content FROM kept WHERE history = ? AND link = ? LIMIT 2")
      defer { row.clear() }
      row.bind(history.id, at: 1)
      row.bind(Int64(bitPattern: link), at: 2)
      if try db.step(row, expecting: SQLITE_ROW), let was = row.imageID(2) {
        let one = (row: Int64(row.integer(0) ?? 0), first: Int64(row.integer(1) ?? 0))
        let isOther = FeedImages.Builder.image(inPack: row.blob(3)).map { images[place].isOther(than: $0) } ?? false
        if !isOther, try !db.step(row, expecting: SQLITE_ROW) {
          found = one
          try moveStar(of: history, from: was, to: id)
        }
      }
    }
    guard let found else { return nil }
    let row = try statement("DELETE FROM kept WHERE id = ?")
    defer { row.clear() }
    row.bind(found.row, at: 1)
    try db.step(row, expecting: SQLITE_DONE)
    history.kept -= 1
    return found.first
  }

  /// Deletes items beyond the limits, least recently seen first. Beyond the maximum number, items that were last seen
  /// while the clock was ahead come first; otherwise, no new item would be kept until that time.
  private func trim(_ history: inout HistoryRow, _ policy: HistoryPolicy, now: Date?) throws {
    guard history.kept > 0 else { return }
    let unstarred = "item NOT IN (SELECT item FROM star WHERE star.history = kept.history)"
    if let age = policy.age, let now {
      let row = try statement("DELETE FROM kept WHERE history = ? AND last < ? AND \(unstarred)")
      defer { row.clear() }
      row.bind(history.id, at: 1)
      row.bind(now.secondsSince1970 - age.components.seconds, at: 2)
      try db.step(row, expecting: SQLITE_DONE)
      history.kept -= db.changesCount
    }
    guard history.kept > policy.items else { return }
    let starred = try statement(
      "SELECT count(*) FROM star JOIN kept USING (history, item) WHERE star.history = ?")
    starred.bind(history.id, at: 1)
    defer { starred.clear() }
    let count = try db.step(starred, expecting: SQLITE_ROW) ? starred.integer(0) ?? 0 : 0
    var excess = history.kept - count - policy.items
    let latest = now.map { $0.secondsSince1970 + FeedCachePolicy.clockTolerance.components.seconds } ?? .max
    // Two statements use the index; sorting by a condition would not.
    for condition in ["last > ?", "last <= ?"] where excess > 0 {
      let first =
        "SELECT id FROM kept WHERE history = ? AND \(condition) AND \(unstarred) ORDER BY history, last, id LIMIT ?"
      try db.cachedStatement(sql: "DELETE FROM kept WHERE id IN (\(first))")
        .execute(arguments: [history.id, latest, excess])
      history.kept -= db.changesCount
      excess -= db.changesCount
    }
  }

  /// Writes the row of a feed's history, after which the index of that feed is out of date.
  private func write(_ history: HistoryRow, title: String?) throws {
    let row = try statement(
      """
      UPDATE history SET kept = ?, revision = revision + 1, title = coalesce(?, title), private = ? WHERE id = ?
      """)
    defer { row.clear() }
    row.bind(Int64(history.kept), at: 1)
    row.bind(title, at: 2)
    row.bind(history.isPrivate.map { $0 ? 1 : 0 } as Int64?, at: 3)
    row.bind(history.id, at: 4)
    try db.step(row, expecting: SQLITE_DONE)
  }
}

extension Date {
  /// The number of seconds since 1970, rounded down; 0 if the number doesn't fit.
  var secondsSince1970: Int64 { Int64(exactly: timeIntervalSince1970.rounded(.down)) ?? 0 }
}

extension FeedImages {
  /// A pack with one image.
  func pack(of position: Int) -> [UInt8] {
    var bytes: [UInt8] = []
    FeedImages([self[position]]).forEachPack { _, pack in
      bytes = Array(pack)
      return true
    }
    return bytes
  }
}
