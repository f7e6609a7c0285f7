import GRDB
import GRDBSQLite

/// The SQL statements for the images of saved feeds.
extension FeedTables {
  func images(of feed: FeedRow) throws -> FeedImages {
    var images = FeedImages.Builder(count: max(0, min(feed.imageCount, 1 << 20)))
    (images.title, images.omittedItems) = (feed.title, feed.omitted)
    images.isFromPrivateNetwork = feed.isFromPrivateNetwork
    try forEachPack(of: feed) { count, bytes in
      guard images.append(pack: bytes, of: count) else {
        throw FeedDatabaseFailure(.damaged("the images after \(images.count) cannot be read"))
      }
    }
    guard images.count == feed.imageCount else {
      throw FeedDatabaseFailure(.damaged("\(images.count) of \(feed.imageCount) images are left"))
    }
    return images.finish()
  }

  /// True when the packs of a feed are exactly these images, byte for byte. False for damaged packs.
  func packs(of feed: FeedRow, equal images: FeedImages) throws -> Bool {
    guard feed.imageCount == images.count else { return false }
    let pack = try statement(Self.selectPacks)
    pack.bind(feed.id, at: 1)
    defer { pack.clear() }
    var isEqual = true
    try images.forEachPack { count, bytes in
      isEqual = try db.step(pack, expecting: SQLITE_ROW) && pack.integer(0) == count && pack.holds(bytes, at: 1)
      return isEqual
    }
    return try isEqual && !db.step(pack, expecting: SQLITE_ROW)
  }

  /// True if the feed's images can be read, false if they are damaged. Throws if reading fails for another reason.
  func canRead(_ feed: FeedRow) throws -> Bool {
    do {
      _ = try images(of: feed)
      return true
    } catch let failure as FeedDatabaseFailure where failure.isDamage {
      return false
    }
  }

  func deleteImages(of feed: FeedRow) throws {
    try db.cachedStatement(sql: "DELETE FROM pack WHERE feed = ?").execute(arguments: [feed.id])
  }

  func insert(_ images: FeedImages, feed: Int64) throws {
    let row = try statement("INSERT INTO pack (feed, part, count, images) VALUES (?, ?, ?, ?)")
    defer { row.clear() }
    row.bind(feed, at: 1)
    var part: Int64 = 0
    try images.forEachPack { count, bytes in
      row.bind(part, at: 2)
      row.bind(Int64(count), at: 3)
      row.bind(bytes, at: 4)
      try db.step(row, expecting: SQLITE_DONE)
      row.reset()
      part += 1
      return true
    }
  }

  private static let selectPacks = "SELECT count, images FROM pack WHERE feed = ? ORDER BY part"

  private func forEachPack(of feed: FeedRow, _ body: (Int, UnsafeRawBufferPointer) throws -> Void) throws {
    let pack = try statement(Self.selectPacks)
    pack.bind(feed.id, at: 1)
    defer { pack.clear() }
    while try db.step(pack, expecting: SQLITE_ROW) { try body(pack.integer(0) ?? -1, pack.blob(1)) }
  }
}
