import Foundation
import GRDB

/// The facts about the images, in a separate table. An index works without that table, and an image's row in it stays
/// when the image is renewed.
extension ImageIndex {
  static func createFacts(_ db: Database) throws {
    try db.execute(
      sql: """
        CREATE TABLE IF NOT EXISTS facts (
          url TEXT PRIMARY KEY, width INTEGER NOT NULL, height INTEGER NOT NULL, color INTEGER NOT NULL,
          animated INTEGER NOT NULL
        ) STRICT, WITHOUT ROWID
        """)
  }

  func facts(for urls: [URL]) throws -> [URL: ImageFacts] {
    try read(creating: false) { db in
      let statement = try db.cachedStatement(sql: "SELECT width, height, color, animated FROM facts WHERE url = ?")
      var found: [URL: ImageFacts] = [:]
      for url in urls {
        guard let row = try Row.fetchOne(statement, arguments: [url.absoluteString]) else { continue }
        let (width, height, color): (Int, Int, Int) = (try row.value(0), try row.value(1), try row.value(2))
        found[url] = ImageFacts(
          size: DecodedImage.Size(width: width, height: height), color: UInt32(truncatingIfNeeded: color),
          isAnimated: try row.value(3))
      }
      return found
    } ?? [:]
  }

  /// Saves the facts about an image, unless the image isn't stored: its facts would then never be deleted.
  func note(_ facts: ImageFacts, for url: URL) throws {
    _ = try write { db in
      try db.cachedStatement(
        sql: """
          INSERT OR REPLACE INTO facts (url, width, height, color, animated)
          SELECT url, ?, ?, ?, ? FROM image WHERE url = ?
          """
      ).execute(arguments: [
        facts.size.width, facts.size.height, Int(facts.color), facts.isAnimated, url.absoluteString,
      ])
    }
  }
}
