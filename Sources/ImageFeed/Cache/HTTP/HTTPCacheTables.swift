import FeedHTTP
import FeedStream
import Foundation
import GRDB

/// Reads and changes the table of an HTTP cache, within one transaction.
struct HTTPCacheTables {
  let db: Database
  let capacity: Int

  /// The application ID is `HTTP` in ASCII.
  static let kind = SQLiteKind(label: "HTTPCache", applicationID: 0x4854_5450, version: 1, schema: schema)

  /// The body is the last column, because SQLite must read a long value to reach the columns after it.
  private static let schema = """
    CREATE TABLE response (
      id INTEGER PRIMARY KEY,
      key TEXT NOT NULL,
      used REAL NOT NULL,      -- seconds since 2001, like all of these
      bytes INTEGER NOT NULL,
      status INTEGER NOT NULL,
      url TEXT NOT NULL,
      requested REAL NOT NULL,
      received REAL NOT NULL,
      selectors TEXT NOT NULL, -- JSON: a string or null for each name
      decoded INTEGER NOT NULL,
      header BLOB NOT NULL,
      body BLOB NOT NULL
    ) STRICT;
    CREATE INDEX response_key ON response (key);
    CREATE INDEX response_use ON response (used, bytes);
    """

  // MARK: Reading

  func responses(
    for key: String, where isWanted: (HTTPStoredResponse.Head) -> Bool, at now: Date
  ) throws -> [HTTPStoredResponse] {
    try rows(for: key).filter { isWanted($0.head) }.compactMap { row in
      // Record the time of use at most once a minute, so that most reads need no write.
      if abs(now.timeIntervalSinceReferenceDate - row.used) >= 60 {
        try db.cachedStatement(sql: "UPDATE response SET used = ? WHERE id = ?")
          .execute(arguments: [now.timeIntervalSinceReferenceDate, row.id])
      }
      guard
        let body = try Data.fetchOne(
          db.cachedStatement(sql: "SELECT body FROM response WHERE id = ?"), arguments: [row.id])
      else { return nil }
      return HTTPStoredResponse(head: row.head, body: body)
    }
  }

  private struct StoredRow {
    let id: Int64
    let used: Double
    let head: HTTPStoredResponse.Head
  }

  private func rows(for key: String) throws -> [StoredRow] {
    let statement = try db.cachedStatement(
      sql: """
        SELECT id, used, status, url, requested, received, selectors, decoded, header FROM response WHERE key = ?
        ORDER BY received, id
        """)
    return try Row.fetchAll(statement, arguments: [key]).compactMap { row in
      let (address, names, header): (String, String, Data) = (try row.value(3), try row.value(6), try row.value(8))
      guard let url = URL(string: address),
        let selectors = try? JSONDecoder().decode([String: String?].self, from: Data(names.utf8))
      else { return nil }
      return StoredRow(
        id: try row.value(0), used: try row.value(1),
        head: HTTPStoredResponse.Head(
          status: try row.value(2), headers: HTTPHeaders(lines: Chunk(header)), url: url,
          requested: Date(timeIntervalSinceReferenceDate: try row.value(4)),
          received: Date(timeIntervalSinceReferenceDate: try row.value(5)), selectors: selectors,
          isDecoded: try row.value(7)))
    }
  }

  // MARK: Changing

  func apply(
    _ change: HTTPCacheChange, to key: String, where isMeant: (HTTPStoredResponse.Head) -> Bool, at now: Date
  ) throws {
    var meant = try rows(for: key).filter { isMeant($0.head) }
    if case .freshen(let head) = change {
      guard let kept = meant.popLast() else { return }
      try freshen(kept.id, head, at: now)
    }
    for row in meant { try db.cachedStatement(sql: "DELETE FROM response WHERE id = ?").execute(arguments: [row.id]) }
    if case .save(let response) = change, response.byteCount <= capacity { try insert(response, for: key, at: now) }
    try evict(at: now)
  }

  private func freshen(_ id: Int64, _ head: HTTPStoredResponse.Head, at now: Date) throws {
    try db.cachedStatement(
      sql: """
        UPDATE response SET used = ?, status = ?, requested = ?, received = ?, selectors = ?, header = ?,
        bytes = bytes - length(header) + ? WHERE id = ?
        """
    )
    .execute(arguments: [
      now.timeIntervalSinceReferenceDate, head.status, head.requested.timeIntervalSinceReferenceDate,
      head.received.timeIntervalSinceReferenceDate, try Self.text(head.selectors), Data(head.headers.lines),
      head.headers.lines.count, id,
    ])
  }

  private func insert(_ response: HTTPStoredResponse, for key: String, at now: Date) throws {
    let head = response.head
    try db.cachedStatement(
      sql: """
        INSERT INTO response (key, used, bytes, status, url, requested, received, selectors, decoded, header, body)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
        """
    )
    .execute(arguments: [
      key, now.timeIntervalSinceReferenceDate, response.byteCount, head.status, head.url.absoluteString,
      head.requested.timeIntervalSinceReferenceDate, head.received.timeIntervalSinceReferenceDate,
      try Self.text(head.selectors), head.isDecoded, Data(head.headers.lines), response.body,
    ])
  }

  private static func text(_ selectors: [String: String?]) throws -> String {
    String(decoding: try JSONEncoder().encode(selectors), as: UTF8.self)
  }

  /// Deletes the least recently used responses until the rest fit within the limit. Responses that were used while the
  /// clock was ahead come first; otherwise, no new response would be kept until that time.
  private func evict(at now: Date) throws {
    let total = try Int.fetchOne(db.cachedStatement(sql: "SELECT sum(bytes) FROM response")) ?? 0
    guard total > capacity else { return }
    var excess = total - capacity
    let latest = now.timeIntervalSinceReferenceDate + FeedCachePolicy.clockTolerance.seconds
    var doomed: [Int64] = []
    // Two statements use the index; sorting by a condition would not.
    for condition in ["used > ?", "used <= ?"] {
      let oldest = try Row.fetchCursor(
        db, sql: "SELECT id, bytes FROM response WHERE \(condition) ORDER BY used, id", arguments: [latest])
      while excess > 0, let row = try oldest.next() {
        doomed.append(try row.value(0))
        excess -= max(0, try row.value(1))
      }
    }
    for id in doomed { try db.cachedStatement(sql: "DELETE FROM response WHERE id = ?").execute(arguments: [id]) }
  }
}
