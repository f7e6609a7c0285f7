import Foundation
import GRDB
import GRDBSQLite

/// Statements that read and change the history and the stars of a feed.
extension FeedTables {

  func kept(of address: URL, after place: SeenPage.Place?, limit: Int) throws -> SeenPage {
    guard let history = try historyRow(of: address), limit > 0 else { return SeenPage(images: []) }
    let facts = try facts(of: history, at: address)
    let row = try statement(
      """
      SELECT id, rank, first, last, content FROM kept
      WHERE history = ? AND (rank, id) < (?, ?) ORDER BY history DESC, rank DESC, id DESC
      """)
    defer { row.clear() }
    row.bind(history.id, at: 1)
    row.bind(place?.rank ?? .max, at: 2)
    row.bind(place?.id ?? .max, at: 3)
    var (page, last) = (SeenPage(images: []), SeenPage.Place?.none)
    while try db.step(row, expecting: SQLITE_ROW) {
      guard page.images.count < limit else {
        page.next = last
        break
      }
      last = SeenPage.Place(rank: Int64(row.integer(1) ?? 0), id: Int64(row.integer(0) ?? 0))
      // A damaged item doesn't hide the others.
      guard let image = FeedImages.Builder.image(inPack: row.blob(4)) else { continue }
      page.images.append(
        facts.seen(image, first: Int64(row.integer(2) ?? 0), last: row.date(3), isPrivate: facts.isPrivate))
    }
    return page
  }

  /// The facts about a feed that its items are shown with.
  struct Facts {
    let address: URL
    let title: String?
    /// That of the kept items.
    let isPrivate: Bool?
    let stars: Set<FeedImage.ID>

    func seen(_ image: FeedImage, first: Int64, last: Date?, isPrivate: Bool?) -> SeenImage {
      SeenImage(
        address: address, feedTitle: title, image: image, firstSeen: Date(timeIntervalSince1970: Double(first)),
        lastSeen: last, isStarred: stars.contains(image.id), isFromPrivateNetwork: isPrivate)
    }
  }

  func facts(of history: HistoryRow, at address: URL) throws -> Facts {
    let row = try statement("SELECT title, private FROM history WHERE id = ?")
    defer { row.clear() }
    row.bind(history.id, at: 1)
    let isThere = try db.step(row, expecting: SQLITE_ROW)
    return Facts(
      address: address, title: isThere ? row.text(0) : nil,
      isPrivate: isThere ? row.integer(1).map { $0 != 0 } : nil, stars: try stars(of: history))
  }

  func stars(of history: HistoryRow) throws -> Set<FeedImage.ID> {
    let row = try statement("SELECT item FROM star WHERE history = ?")
    defer { row.clear() }
    row.bind(history.id, at: 1)
    var stars: Set<FeedImage.ID> = []
    while try db.step(row, expecting: SQLITE_ROW) { if let id = row.imageID(0) { stars.insert(id) } }
    return stars
  }

  /// The URLs of the images of starred items, in saved documents and in the history.
  func starredImages() throws -> Set<URL> {
    var found: Set<URL> = []
    let rows = try Row.fetchAll(
      db, sql: "SELECT id, address FROM history WHERE id IN (SELECT history FROM star) ORDER BY id")
    for row in rows {
      let (id, text): (Int64, String) = (try row.value(0), try row.value(1))
      let stars = try stars(of: HistoryRow(id: id, kept: 0))
      if let address = URL(string: text), let feed = try feedRow(for: address), let saved = try oldDocument(feed) {
        for index in saved.images.indices where stars.contains(saved.images.id(at: index)) {
          found.insert(saved.images[index].url)
        }
      }
    }
    let row = try statement("SELECT content FROM star JOIN kept USING (history, item)")
    defer { row.clear() }
    while try db.step(row, expecting: SQLITE_ROW) {
      if let image = FeedImages.Builder.image(inPack: row.blob(0)) { found.insert(image.url) }
    }
    return found
  }

  func moveStar(of history: HistoryRow, from old: FeedImage.ID, to new: FeedImage.ID) throws {
    let row = try statement("UPDATE OR REPLACE star SET item = ? WHERE history = ? AND item = ?")
    defer { row.clear() }
    row.bind(new.stored, at: 1)
    row.bind(history.id, at: 2)
    row.bind(old.stored, at: 3)
    try db.step(row, expecting: SQLITE_DONE)
  }

  /// - Returns: false when neither the saved document nor the history has such an item.
  func setStar(_ isStarred: Bool, _ id: FeedImage.ID, of address: URL, now: Date) throws -> Bool {
    guard let history = try historyRow(of: address) else { return false }
    guard isStarred else {
      // A starred item loses its star even if it can't be read.
      try db.cachedStatement(sql: "DELETE FROM star WHERE history = ? AND item = ?")
        .execute(arguments: [history.id, Data(id.stored)])
      return try db.changesCount > 0 || has(id, history, address)
    }
    guard try has(id, history, address) else { return false }
    try db.cachedStatement(sql: "INSERT OR IGNORE INTO star (history, item, time) VALUES (?, ?, ?)")
      .execute(arguments: [history.id, Data(id.stored), now.secondsSince1970])
    return true
  }

  private func has(_ id: FeedImage.ID, _ history: HistoryRow, _ address: URL) throws -> Bool {
    let row = try statement("SELECT 1 FROM kept WHERE history = ? AND item = ?")
    defer { row.clear() }
    row.bind(history.id, at: 1)
    row.bind(id.stored, at: 2)
    if try db.step(row, expecting: SQLITE_ROW) { return true }
    guard let feed = try feedRow(for: address), let saved = try oldDocument(feed) else { return false }
    return saved.images.indices.contains { saved.images.id(at: $0) == id }
  }

  /// Reads every item: users rarely look up an item by name, so no index of names is kept.
  func items(named name: String) throws -> [SeenImage] {
    func isNamed(_ image: FeedImage) -> Bool {
      image.addressText == name || image.post.linkText == name || "\(image.id)" == name.uppercased()
    }
    var (present, past): ([SeenImage], [SeenImage]) = ([], [])
    let addresses = try String.fetchAll(db, sql: "SELECT address FROM history ORDER BY address")
    for address in addresses.compactMap({ URL(string: $0) }) {
      guard let history = try historyRow(of: address) else { continue }
      let facts = try facts(of: history, at: address)
      if let feed = try feedRow(for: address), let saved = try oldDocument(feed) {
        for (place, image) in saved.images.enumerated() where isNamed(image) {
          let mark = saved.images.isFromPrivateNetwork
          present.append(facts.seen(image, first: saved.firstSeen.times[place], last: nil, isPrivate: mark))
        }
      }
      let row = try statement("SELECT first, last, content FROM kept WHERE history = ?")
      defer { row.clear() }
      row.bind(history.id, at: 1)
      while try db.step(row, expecting: SQLITE_ROW) {
        guard let image = FeedImages.Builder.image(inPack: row.blob(2)), isNamed(image) else { continue }
        let first = Int64(row.integer(0) ?? 0)
        past.append(facts.seen(image, first: first, last: row.date(1), isPrivate: facts.isPrivate))
      }
    }
    return present + past
  }

  func historySummary() throws -> HistorySummary {
    return HistorySummary(
      kept: try db.integer("SELECT count(*) FROM kept"), starred: try db.integer("SELECT count(*) FROM star"))
  }

  /// Deletes a feed's history, its stars, and the record of its shown images.
  func forgetHistory(of address: URL?) throws {
    guard let address else {
      try db.execute(sql: "DELETE FROM kept; DELETE FROM star; DELETE FROM shown")
      if try hasIndex { try db.execute(sql: "DROP TABLE words; DROP TABLE found") }
      // Keep the rows of saved feeds, because they count the changes.
      try db.execute(sql: "UPDATE history SET kept = 0, revision = revision + 1, indexed = -1")
      try db.execute(sql: "DELETE FROM history WHERE address NOT IN (SELECT address FROM feed)")
      return
    }
    try deleteShown(for: address)
    guard let history = try historyRow(of: address) else { return }
    for sql in [
      "DELETE FROM kept WHERE history = ?", "DELETE FROM star WHERE history = ?",
      "UPDATE history SET kept = 0, revision = revision + 1 WHERE id = ?",
    ] {
      try db.cachedStatement(sql: sql).execute(arguments: [history.id])
    }
  }
}

extension FeedImages.Builder {
  /// The image in a pack that has one, or one of the images in a pack; `nil` if the pack is damaged.
  ///
  /// - Parameter place: the position of the image, the only one that is created; `nil` if the pack has one image.
  static func image(inPack pack: UnsafeRawBufferPointer, of count: Int = 1, only place: Int? = nil) -> FeedImage? {
    var builder = FeedImages.Builder(count: 1)
    guard builder.append(pack: pack, of: count, only: place) else { return nil }
    return builder.finish().first
  }
}

extension RawStatement {
  /// The date in a column, which holds seconds since 1970.
  func date(_ column: Int32) -> Date? { integer(column).map { Date(timeIntervalSince1970: Double($0)) } }
}
