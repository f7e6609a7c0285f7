import Foundation
import GRDB
import GRDBSQLite

/// Files of before, with a row for each image.
extension FeedTables {
  /// Writes the images of all feeds as packs. A feed whose rows are damaged has none then, and stays damaged.
  func packRows() throws {
    let feeds = try Row.fetchAll(db, sql: "SELECT id, images FROM feed")
    for row in feeds {
      let feed = FeedRow(
        id: row[0], timestamp: .distantPast, imageCount: try row.value(1), validators: FeedValidators(), title: nil,
        omitted: 0)
      do {
        try insert(try images(of: feed), feed: feed.id)
      } catch let failure as FeedDatabaseFailure where failure.isDamage {
        continue
      }
    }
  }

  func appendRows(of feed: FeedRow, to images: inout FeedImages.Builder) throws {
    let published = version < 5 ? "NULL" : "published"
    let sql = "SELECT id, description, location, url, \(published) FROM image WHERE feed = ? ORDER BY position"
    let row = RawStatement(try db.cachedStatement(sql: sql).sqliteStatement)
    row.bind(feed.id, at: 1)
    defer { row.clear() }
    while try db.step(row, expecting: SQLITE_ROW) {
      guard let id = row.imageID(0), let address = row.text(3).flatMap({ WebAddress($0) }) else {
        throw FeedDatabaseFailure(.damaged("image \(images.count) has no valid id or address"))
      }
      images.append(
        FeedImage(
          id: id, description: row.text(1), location: row.text(2), address: address,
          published: row.integer(4).map(Int64.init)))
    }
  }
}
