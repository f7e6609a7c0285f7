import Foundation
import GRDB
import GRDBSQLite

/// Results of history queries, from the index.
extension FeedTables {
  /// - Returns: a page with the items that can be read; it is empty only if there are no more.
  func found(_ query: SeenQuery) throws -> SeenPage {
    var query = query
    while true {
      let page = try pageOfFound(query)
      guard page.images.isEmpty, let next = page.next else { return page }
      query.after = next
    }
  }

  private func pageOfFound(_ query: SeenQuery) throws -> SeenPage {
    guard query.limit > 0, try hasIndex else { return SeenPage(images: []) }
    let words = Self.expression(for: query)
    // A query without letters or digits, such as "?!", matches no item.
    if words == nil, query.words.contains(where: { !$0.isWhitespace }) { return SeenPage(images: []) }
    var conditions = words == nil ? [] : ["words MATCH ?"]
    if query.after != nil { conditions.append("\(words == nil ? "f.id" : "words.rowid") < ?") }
    if query.isStarred {
      conditions.append("EXISTS (SELECT 1 FROM star s WHERE s.history = f.history AND s.item = f.item)")
    }
    if query.isKept { conditions.append("f.place IS NULL") }
    if let feeds = query.feeds {
      let list = Array(repeating: "?", count: feeds.count).joined(separator: ", ")
      conditions.append("f.history IN (SELECT id FROM history WHERE address IN (\(list)))")
    }
    let source = words == nil ? "found f" : "words JOIN found f ON f.id = words.rowid"
    let sql = """
      SELECT f.id, f.history, f.item, f.place FROM \(source)
      \(conditions.isEmpty ? "" : "WHERE " + conditions.joined(separator: " AND "))
      ORDER BY \(words == nil ? "f.id" : "words.rowid") DESC LIMIT ?
      """
    let row = try statement(sql)
    defer { row.clear() }
    var index: Int32 = 0
    func next() -> Int32 {
      index += 1
      return index
    }
    if let words { row.bind(words, at: next()) }
    if let after = query.after { row.bind(after.id, at: next()) }
    for feed in query.feeds ?? [] { row.bind(feed.absoluteString, at: next()) }
    row.bind(Int64(min(query.limit, .max - 1)) + 1, at: next())
    var places: [(id: Int64, history: Int64, item: FeedImage.ID?, place: Int?)] = []
    while try db.step(row, expecting: SQLITE_ROW) {
      // An unreadable id counts, too: otherwise, a full page would look like the last one.
      places.append((Int64(row.integer(0) ?? 0), Int64(row.integer(1) ?? 0), row.imageID(2), row.integer(3)))
    }
    var page = SeenPage(images: [])
    if places.count > query.limit {
      places.removeLast()
      page.next = places.last.map { SeenPage.Place(rank: 0, id: $0.id) }
    }
    var readers: [Int64: SeenReader] = [:]
    for one in places {
      guard let item = one.item else { continue }
      if readers[one.history] == nil {
        readers[one.history] = try SeenReader(self, HistoryRow(id: one.history, kept: 0))
      }
      if let image = try readers[one.history]?.image(item, at: one.place) { page.images.append(image) }
    }
    return page
  }

  /// The words in FTS5's syntax; `nil` if there are none. Words that FTS5 would read as operators are quoted.
  static func expression(for query: SeenQuery) -> String? {
    let words = query.words.split(whereSeparator: \.isWhitespace)
    let terms = words.enumerated().compactMap { index, word -> String? in
      let isBeginning = word.hasSuffix("*") || query.isTyping && index == words.count - 1
      // A quotation mark with a combining character is one character, but still ends FTS5's quotation.
      let plain = String(word.unicodeScalars.filter { $0 != "\"" && $0 != "*" && $0 != "\0" })
      guard plain.contains(where: { $0.isLetter || $0.isNumber }) else { return nil }
      return "\"\(plain)\"" + (isBeginning ? "*" : "")
    }
    return terms.isEmpty ? nil : terms.joined(separator: " ")
  }
}

/// Reads items of one feed by their positions.
private struct SeenReader {
  private let tables: FeedTables
  private let history: FeedTables.HistoryRow
  private let facts: FeedTables.Facts
  private let feed: FeedTables.FeedRow?
  private let firstSeen: FirstSeen
  /// The beginning of each pack.
  private var starts: [Int] = [0]
  /// The last pack that was read, and its bytes. Each pack overwrites the previous one. With a new array of up to 64
  /// KiB for each pack, memory would constantly be returned to the system and requested again.
  private var pack: (part: Int, count: Int)?
  private var bytes: [UInt8] = []

  init?(_ tables: FeedTables, _ history: FeedTables.HistoryRow) throws {
    let row = try tables.statement("SELECT address FROM history WHERE id = ?")
    defer { row.clear() }
    row.bind(history.id, at: 1)
    guard try tables.db.step(row, expecting: SQLITE_ROW), let address = row.text(0).flatMap({ URL(string: $0) }) else {
      return nil
    }
    (self.tables, self.history) = (tables, history)
    facts = try tables.facts(of: history, at: address)
    feed = try tables.feedRow(for: address)
    guard let feed else {
      firstSeen = FirstSeen([])
      return
    }
    // In a damaged file, a pack may claim any number of images. It can't have more images than bytes.
    let counts = try tables.statement(
      "SELECT max(0, min(count, length(images))) FROM pack WHERE feed = ? ORDER BY part")
    defer { counts.clear() }
    counts.bind(feed.id, at: 1)
    while try tables.db.step(counts, expecting: SQLITE_ROW) { starts.append(starts.last! + (counts.integer(0) ?? 0)) }
    firstSeen = try tables.firstSeen(of: feed, count: max(0, min(feed.imageCount, starts.last!)))
  }

  mutating func image(_ id: FeedImage.ID, at place: Int?) throws -> SeenImage? {
    guard let place else { return try kept(id) }
    guard let part = starts.lastIndex(where: { $0 <= place }), part < starts.count - 1 else { return nil }
    if pack?.part != part { pack = try read(part) }
    guard let pack, firstSeen.times.indices.contains(place) else { return nil }
    let image = bytes.withUnsafeBytes {
      FeedImages.Builder.image(inPack: $0, of: pack.count, only: place - starts[part])
    }
    guard let image, image.id == id else { return nil }
    return facts.seen(image, first: firstSeen.times[place], last: nil, isPrivate: feed?.isFromPrivateNetwork)
  }

  private mutating func read(_ part: Int) throws -> (part: Int, count: Int)? {
    bytes.removeAll(keepingCapacity: true)
    guard let feed else { return nil }
    let row = try tables.statement("SELECT count, images FROM pack WHERE feed = ? AND part = ?")
    defer { row.clear() }
    row.bind(feed.id, at: 1)
    row.bind(Int64(part), at: 2)
    guard try tables.db.step(row, expecting: SQLITE_ROW), let count = row.integer(0) else { return nil }
    bytes.append(contentsOf: row.blob(1))
    return (part, count)
  }

  private func kept(_ id: FeedImage.ID) throws -> SeenImage? {
    let row = try tables.statement("SELECT first, last, content FROM kept WHERE history = ? AND item = ?")
    defer { row.clear() }
    row.bind(history.id, at: 1)
    row.bind(id.stored, at: 2)
    guard try tables.db.step(row, expecting: SQLITE_ROW), let image = FeedImages.Builder.image(inPack: row.blob(2))
    else { return nil }
    return facts.seen(image, first: Int64(row.integer(0) ?? 0), last: row.date(1), isPrivate: facts.isPrivate)
  }
}
