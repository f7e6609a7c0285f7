import Foundation
import GRDB
import GRDBSQLite

/// The word index of all saved and former items, in SQLite's FTS5.
///
/// Saves don't update the index: a feed's `history.revision` counts its changes, and the next query indexes the
/// differences. So polls take no longer than without an index, and the index is created only when it is first needed.
/// A row's id is its sort time, in seconds since 1970, multiplied by 2^20, so the newest items are found
/// first without sorting.
extension FeedTables {
  private static let createIndex = """
    CREATE TABLE IF NOT EXISTS found (
      id INTEGER PRIMARY KEY, -- that of its row in words
      history INTEGER NOT NULL,
      item BLOB NOT NULL,
      place INTEGER,          -- in the saved feed; NULL for what is kept
      digest INTEGER NOT NULL -- of what is indexed, and of the time
    ) STRICT;
    CREATE UNIQUE INDEX IF NOT EXISTS found_item ON found (history, item);
    CREATE VIRTUAL TABLE IF NOT EXISTS words USING fts5 (
      title, text, alt, tokenize = 'unicode61 remove_diacritics 2', prefix = '1 2 3', columnsize = 0
    );
    """

  var hasIndex: Bool {
    get throws { try db.integer("SELECT count(*) FROM sqlite_master WHERE name = 'words'") > 0 }
  }

  /// True if the index is complete.
  func isIndexed() throws -> Bool {
    return try db.integer("SELECT count(*) FROM history WHERE revision <> indexed") == 0
  }

  /// Brings the index up to date. If a feed can't be read, only its history is indexed.
  ///
  /// - Parameter limit: the number of items after which no further feed is indexed.
  func updateIndex(atMost limit: Int = .max) throws {
    try db.execute(sql: Self.createIndex)
    let stale = try Row.fetchAll(
      db, sql: "SELECT id, address FROM history WHERE revision <> indexed ORDER BY id")
    var count = 0
    for row in stale where count < limit {
      let (id, text): (Int64, String) = (try row.value(0), try row.value(1))
      if let address = URL(string: text) { count += try index(HistoryRow(id: id, kept: 0), address) }
      try db.cachedStatement(sql: "UPDATE history SET indexed = revision WHERE id = ?").execute(arguments: [id])
    }
  }

  /// Forgets a damaged index. To drop the tables, SQLite would read them, and might free pages of others. This way, the
  /// old pages only take up room.
  func forgetIndex() throws {
    try db.execute(
      sql: """
        PRAGMA writable_schema = ON;
        DELETE FROM sqlite_schema WHERE tbl_name IN ('words', 'found') OR tbl_name GLOB 'words_*';
        PRAGMA writable_schema = RESET;
        UPDATE history SET indexed = -1
        """)
  }

  /// The number of items, and the number of those in feeds whose index is up to date.
  func indexProgress() throws -> IndexProgress {
    let row = try Row.fetchOne(
      db,
      sql: """
        SELECT coalesce(sum(history.kept + coalesce(feed.images, 0)), 0),
          coalesce(sum((history.kept + coalesce(feed.images, 0)) * (revision <> indexed)), 0), total(revision <> indexed)
        FROM history LEFT JOIN feed USING (address)
        """)
    guard let row else { return IndexProgress(indexed: 0, total: 0) }
    let (total, rest, feeds): (Int, Int, Double) = (try row.value(0), try row.value(1), try row.value(2))
    // A feed that has become empty still needs to be indexed.
    return IndexProgress(indexed: total - rest, total: rest == 0 && feeds > 0 ? total + 1 : total)
  }

  /// An item to index.
  private struct Entry {
    let image: FeedImage
    let rank: Int64
    let place: Int?

    /// The first id of the second that the item is sorted by. Times that don't fit are clamped to the earliest or
    /// latest that does.
    var firstID: Int64 { min(max(rank, -(1 << 42)), 1 << 42) << 20 }

    var texts: [String?] {
      [
        image.description ?? image.title, image.text,
        [image.alt, image.location].compactMap { $0 }.joined(separator: " "),
      ]
    }

    var digest: Int64 {
      var digest = BodyDigest.Builder()
      for text in texts + [String(rank)] {
        Array((text ?? "").utf8).withUnsafeBytes { digest.append($0) }
        digest.append(UnsafeRawBufferPointer(start: nil, count: 0))
        withUnsafeBytes(of: UInt64(text == nil ? 0 : 1)) { digest.append($0) }
      }
      return Int64(bitPattern: digest.finish().value)
    }
  }

  /// - Returns: the number of items read.
  private func index(_ history: HistoryRow, _ address: URL) throws -> Int {
    var known: [FeedImage.ID: (id: Int64, digest: Int64, place: Int?)] = [:]
    do {
      let row = try statement("SELECT id, item, digest, place FROM found WHERE history = ?")
      defer { row.clear() }
      row.bind(history.id, at: 1)
      while try db.step(row, expecting: SQLITE_ROW) {
        guard let item = row.imageID(1) else { continue }
        known[item] = (Int64(row.integer(0) ?? 0), Int64(row.integer(2) ?? 0), row.integer(3))
      }
    }
    let entries = try entries(of: history, address)
    // Remove items first, so that others can have their ids.
    let listed = Set(entries.map(\.image.id))
    for (item, old) in known where !listed.contains(item) { try remove(old.id) }
    // Add the last entry first: among entries of the same time, the first one then has the highest id.
    var gaps: [Int64: [Range<Int64>]] = [:]
    for entry in entries.reversed() {
      let digest = entry.digest
      if let old = known.removeValue(forKey: entry.image.id) {
        if old.digest == digest {
          if old.place != entry.place { try move(old.id, to: entry.place) }
          continue
        }
        // Each second has a limited number of ids, so an edited item keeps its id.
        if entry.firstID >> 20 == old.id >> 20 {
          try change(old.id, to: entry, digest)
          continue
        }
        try remove(old.id)
      }
      // If no more items of this second fit, leave out the rest, instead of failing every search.
      if let id = try freeID(from: entry.firstID, &gaps) { try add(entry, digest, history, at: id) }
    }
    return entries.count
  }

  /// The feed's current items, and then the former ones. If several items have the same id, only the first is included.
  private func entries(of history: HistoryRow, _ address: URL) throws -> [Entry] {
    var entries: [Entry] = []
    var seen: Set<FeedImage.ID> = []
    if let feed = try feedRow(for: address), let saved = try oldDocument(feed) {
      for (place, image) in saved.images.enumerated() where seen.insert(image.id).inserted {
        entries.append(
          Entry(image: image, rank: image.publishedSeconds ?? saved.firstSeen.times[place], place: place))
      }
    }
    let row = try statement(
      "SELECT rank, content FROM kept WHERE history = ? ORDER BY history DESC, rank DESC, id DESC")
    defer { row.clear() }
    row.bind(history.id, at: 1)
    while try db.step(row, expecting: SQLITE_ROW) {
      guard let image = FeedImages.Builder.image(inPack: row.blob(1)), seen.insert(image.id).inserted else { continue }
      entries.append(Entry(image: image, rank: Int64(row.integer(0) ?? 0), place: nil))
    }
    return entries
  }

  /// The id after the last one of a second. After the highest possible one, ids that have been removed are used again.
  ///
  /// - Parameters:
  ///   - base: the first id of the second.
  ///   - gaps: the unused ids of each second that has reached its highest one, in descending order.
  /// - Returns: `nil` if all ids of the second are used.
  private func freeID(from base: Int64, _ gaps: inout [Int64: [Range<Int64>]]) throws -> Int64? {
    let end = base + (1 << 20)
    if gaps[base] == nil {
      let last = try statement("SELECT max(id) FROM found WHERE id BETWEEN ? AND ?")
      defer { last.clear() }
      last.bind(base, at: 1)
      last.bind(end - 1, at: 2)
      let id = try db.step(last, expecting: SQLITE_ROW) ? last.integer(0).map { Int64($0) + 1 } ?? base : base
      if id < end { return id }
      gaps[base] = try self.gaps(in: base..<end)
    }
    guard let gap = gaps[base]?.popLast() else { return nil }
    if gap.count > 1 { gaps[base]?.append(gap.dropFirst()) }
    return gap.lowerBound
  }

  /// The ids that no item has, in descending order.
  private func gaps(in ids: Range<Int64>) throws -> [Range<Int64>] {
    let row = try statement("SELECT id FROM found WHERE id BETWEEN ? AND ? ORDER BY id DESC")
    defer { row.clear() }
    row.bind(ids.lowerBound, at: 1)
    row.bind(ids.upperBound - 1, at: 2)
    var (gaps, end) = ([Range<Int64>](), ids.upperBound)
    while try db.step(row, expecting: SQLITE_ROW), let id = row.integer(0).map({ Int64($0) }) {
      if id + 1 < end { gaps.append(id + 1..<end) }
      end = id
    }
    if ids.lowerBound < end { gaps.append(ids.lowerBound..<end) }
    return gaps
  }

  private func add(_ entry: Entry, _ digest: Int64, _ history: HistoryRow, at id: Int64) throws {
    let row = try statement("INSERT INTO found (id, history, item, place, digest) VALUES (?, ?, ?, ?, ?)")
    row.bind(id, at: 1)
    row.bind(history.id, at: 2)
    row.bind(entry.image.id.stored, at: 3)
    row.bind(entry.place.map(Int64.init), at: 4)
    row.bind(digest, at: 5)
    defer { row.clear() }
    try db.step(row, expecting: SQLITE_DONE)
    let words = try statement("INSERT INTO words (rowid, title, text, alt) VALUES (?, ?, ?, ?)")
    defer { words.clear() }
    words.bind(id, at: 1)
    for (column, text) in zip(Int32(2)..., entry.texts) { words.bind(text, at: column) }
    try db.step(words, expecting: SQLITE_DONE)
  }

  private func change(_ id: Int64, to entry: Entry, _ digest: Int64) throws {
    let row = try statement("UPDATE found SET place = ?, digest = ? WHERE id = ?")
    defer { row.clear() }
    row.bind(entry.place.map(Int64.init), at: 1)
    row.bind(digest, at: 2)
    row.bind(id, at: 3)
    try db.step(row, expecting: SQLITE_DONE)
    let words = try statement("UPDATE words SET title = ?, text = ?, alt = ? WHERE rowid = ?")
    defer { words.clear() }
    for (column, text) in zip(Int32(1)..., entry.texts) { words.bind(text, at: column) }
    words.bind(id, at: 4)
    try db.step(words, expecting: SQLITE_DONE)
  }

  private func move(_ id: Int64, to place: Int?) throws {
    let row = try statement("UPDATE found SET place = ? WHERE id = ?")
    defer { row.clear() }
    row.bind(place.map(Int64.init), at: 1)
    row.bind(id, at: 2)
    try db.step(row, expecting: SQLITE_DONE)
  }

  private func remove(_ id: Int64) throws {
    for sql in ["DELETE FROM words WHERE rowid = ?", "DELETE FROM found WHERE id = ?"] {
      let row = try statement(sql)
      defer { row.clear() }
      row.bind(id, at: 1)
      try db.step(row, expecting: SQLITE_DONE)
    }
  }
}
