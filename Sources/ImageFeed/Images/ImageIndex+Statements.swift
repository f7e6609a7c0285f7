import Foundation
import GRDB

/// The statements of the index.
extension ImageIndex {
  /// The maximum size of the index with its log and the log's shared index. The index's file never shrinks. The log has
  /// up to 32 pages before a checkpoint, plus the pages that one transaction changes, which may be all of them.
  static func ownBytes(_ db: Database) throws -> Int {
    let pages = try Int.fetchOne(
      db.cachedStatement(sql: "SELECT page_count * page_size FROM pragma_page_count, pragma_page_size"))
    return max(ownBytes, (192 << 10) + 2 * (pages ?? 0))
  }

  static func entry(_ url: URL, _ db: Database) throws -> Entry? {
    let sql = "SELECT bytes, timestamp, lifetime, etag, last_modified, used FROM image WHERE url = ?"
    return try Row.fetchOne(db.cachedStatement(sql: sql), arguments: [url.absoluteString]).map { row in
      let (etag, lastModified): (String?, String?) = (try row.value(3), try row.value(4))
      return Entry(
        bytes: bounded(try row.value(0)), timestamp: Date(timeIntervalSinceReferenceDate: try row.value(1)),
        lifetime: .seconds(min(max(try row.value(2), -1e12), 1e12)),
        validators: FeedValidators(etag: etag, lastModified: lastModified),
        used: Date(timeIntervalSinceReferenceDate: try row.value(5)))
    }
  }

  /// The total bytes of these images.
  static func bytes(of urls: Set<URL>, _ db: Database) throws -> Int {
    try urls.reduce(0) { try $0 + (entry($1, db)?.bytes ?? 0) }
  }

  /// The total bytes of the images.
  static func totalBytes(_ db: Database) throws -> Int {
    Int(min(max(try Double.fetchOne(db, sql: "SELECT total(bytes) FROM image") ?? 0, 0), Double(mostBytes)))
  }

  /// The number of bytes that a row states, clamped, because a stored number may be damaged and numbers are added.
  static func bounded(_ bytes: Int) -> Int { min(max(bytes, 0), mostBytes) }

  private static let mostBytes = 1 << 50

  static func insert(
    _ url: URL, _ bytes: Int, _ image: Saved<FetchedImage>, now: Date, _ db: Database
  ) throws {
    try db.cachedStatement(
      sql: """
        INSERT OR REPLACE INTO image (url, bytes, timestamp, lifetime, etag, last_modified, used)
        VALUES (?, ?, ?, ?, ?, ?, ?)
        """
    ).execute(arguments: [
      url.absoluteString, bytes, image.timestamp.timeIntervalSinceReferenceDate, image.value.lifetime / .seconds(1),
      image.validators.etag, image.validators.lastModified, now.timeIntervalSinceReferenceDate,
    ])
  }

  /// The file is deleted first, because a row without a file does no harm.
  static func delete(_ url: String, in folder: String, _ db: Database) throws {
    if let url = URL(string: url), unlink("\(folder)/data/\(ImageFile.name(for: url))") != 0, errno != ENOENT {
      throw POSIXError(.init(rawValue: errno) ?? .EIO)
    }
    try db.cachedStatement(sql: "DELETE FROM image WHERE url = ?").execute(arguments: [url])
    try db.cachedStatement(sql: "DELETE FROM facts WHERE url = ?").execute(arguments: [url])
  }
}
