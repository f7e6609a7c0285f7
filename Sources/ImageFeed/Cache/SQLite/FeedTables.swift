import Foundation
import GRDB
import GRDBSQLite

/// The statements of the store. They run inside a transaction of ``FeedDatabase``.
///
/// Images are bound and read through SQLite's own functions, because creating a GRDB row or argument list would take
/// longer than the work itself.
struct FeedTables {
  let db: Database
  /// The notes that are not in the tables yet.
  let journal: NoteJournal

  func statement(_ sql: String) throws -> RawStatement {
    RawStatement(try db.cachedStatement(sql: sql).sqliteStatement)
  }

  /// A feed's row in the table of feeds.
  struct FeedRow {
    let id: Int64
    var timestamp: Date
    let imageCount: Int
    var validators: FeedValidators
    let title: String?
    /// The number of items without an image.
    let omitted: Int
    var isFromPrivateNetwork: Bool?

    mutating func renew(_ renewal: Renewal) { (timestamp, validators) = (renewal.timestamp, renewal.validators) }
  }

  /// The change to a feed's row when the feed's server says that nothing has changed.
  struct Renewal {
    var timestamp: Date
    var validators: FeedValidators
  }

  func feedRow(for address: URL) throws -> FeedRow? {
    let known = journal.feeds[address.absoluteString]
    if let known, known.isRead { return known.row }
    var row = try tableRow(for: address)
    if let renewal = known?.renewal { row?.renew(renewal) }
    return row
  }

  private func tableRow(for address: URL) throws -> FeedRow? {
    let row = try statement(
      """
      SELECT id, timestamp, images, etag, last_modified, source, digest, whole_asked, title, omitted, private
      FROM feed WHERE address = ?
      """)
    row.bind(address.absoluteString, at: 1)
    defer { row.clear() }
    guard try db.step(row, expecting: SQLITE_ROW) else { return nil }
    guard let id = row.integer(0), let timestamp = row.real(1), let count = row.integer(2) else {
      throw FeedDatabaseFailure(.damaged("a feed has no valid URL, time or number of images"))
    }
    return FeedRow(
      id: Int64(id), timestamp: Date(timeIntervalSinceReferenceDate: timestamp), imageCount: count,
      validators: FeedValidators(
        etag: row.text(3), lastModified: row.text(4), source: row.text(5).flatMap { URL(string: $0) },
        digest: row.integer(6).map { BodyDigest(value: UInt64(bitPattern: Int64($0))) },
        wholeAsked: row.real(7).map(Date.init(timeIntervalSinceReferenceDate:))),
      title: row.text(8), omitted: max(0, row.integer(9) ?? 0), isFromPrivateNetwork: row.integer(10).map { $0 != 0 })
  }

  func feedSummaries() throws -> [CachedFeedSummary] {
    let rows = try Row.fetchAll(db.cachedStatement(sql: "SELECT address, timestamp, images FROM feed ORDER BY address"))
    return try rows.map { row in
      let address: String = try row.value(0)
      guard let url = URL(string: address) else { throw FeedDatabaseFailure(.damaged("a feed has no valid URL")) }
      let renewed = journal.feeds[address]?.renewal?.timestamp
      return CachedFeedSummary(
        address: url, timestamp: try renewed ?? Date(timeIntervalSinceReferenceDate: row.value(1)),
        imageCount: try row.value(2))
    }
  }

  func deleteFeed(_ feed: FeedRow) throws {
    try deleteImages(of: feed)
    try db.cachedStatement(sql: "DELETE FROM feed WHERE id = ?").execute(arguments: [feed.id])
  }

  func deleteAllFeeds() throws {
    try db.execute(sql: "DELETE FROM pack; DELETE FROM feed")
    try deleteNotesOfFeeds()
  }

  /// Writes a feed whose images are not in the table.
  func insert(_ feed: CachedFeed, for address: URL, over old: FeedRow?) throws {
    if let old {
      try renew(old, with: feed)
      try db.cachedStatement(sql: "UPDATE feed SET images = ? WHERE id = ?")
        .execute(arguments: [feed.images.count, old.id])
      try insert(feed.images, feed: old.id)
    } else {
      let columns =
        "address, images, title, omitted, private, timestamp, etag, last_modified, source, digest, whole_asked"
      try db.cachedStatement(sql: "INSERT INTO feed (\(columns)) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)")
        .execute(
          arguments: [
            address.absoluteString, feed.images.count, feed.images.title, feed.images.omittedItems,
            feed.images.isFromPrivateNetwork,
          ]
            + arguments(feed.timestamp, feed.validators))
      try insert(feed.images, feed: db.lastInsertedRowID)
    }
  }

  /// Writes the other fields of a feed whose images are unchanged.
  func renew(_ feed: FeedRow, with new: CachedFeed) throws {
    try renew(feed, timestamp: new.timestamp, validators: new.validators)
    let images = new.images
    guard
      (feed.title, feed.omitted, feed.isFromPrivateNetwork)
        != (images.title, images.omittedItems, images.isFromPrivateNetwork)
    else { return }
    try db.cachedStatement(sql: "UPDATE feed SET title = ?, omitted = ?, private = ? WHERE id = ?")
      .execute(arguments: [images.title, images.omittedItems, images.isFromPrivateNetwork, feed.id])
    let address = "(SELECT address FROM feed WHERE id = ?)"
    try db.cachedStatement(sql: "UPDATE history SET title = coalesce(?, title) WHERE address = \(address)")
      .execute(arguments: [images.title, feed.id])
  }

  /// Replaces a saved feed, unless a newer one is saved. If the images are the same, the feed is only renewed.
  ///
  /// - Parameter step: the step to which failures are attributed.
  func replace(
    _ address: URL, with feed: CachedFeed, keeping policy: HistoryPolicy, now: Date, _ step: inout FeedStoreError.Step
  ) throws -> FeedReplacement {
    var document: OldDocument?
    let old = try feedRow(for: address)
    if let old {
      if FeedCachePolicy.isSuperseded(feed.timestamp, by: old.timestamp, now: now) {
        return .superseded(by: old.timestamp)
      }
      if try packs(of: old, equal: feed.images) {
        try renew(old, with: feed)
        return .renewed
      }
      step = .deletion
      document = try oldDocument(old)
      try deleteImages(of: old)
      step = .insertion
    }
    try insert(feed, for: address, over: old)
    try noteHistory(from: document, to: feed, of: address, policy, now: now)
    return .replaced
  }

  /// Renews a saved feed, unless its validators have changed in the meantime or the feed doesn't exist.
  func renewed(_ address: URL, with renewal: FeedRenewal, now: Date) throws -> FeedReplacement? {
    guard let row = try feedRow(for: address), row.validators == renewal.since else { return nil }
    if FeedCachePolicy.isSuperseded(renewal.timestamp, by: row.timestamp, now: now) {
      return .superseded(by: row.timestamp)
    }
    try renew(row, timestamp: renewal.timestamp, validators: renewal.validators)
    return .renewed
  }

  /// Writes only the database page that contains the feed's row.
  func renew(_ feed: FeedRow, timestamp: Date, validators: FeedValidators) throws {
    try renew(Renewal(timestamp: timestamp, validators: validators), where: "id") { $0.bind(feed.id, at: 7) }
  }

  /// - Parameters:
  ///   - column: the column that identifies the row.
  ///   - bind: binds that column's value, the seventh parameter.
  func renew(_ renewal: Renewal, where column: String, _ bind: (RawStatement) -> Void) throws {
    let columns = "timestamp = ?, etag = ?, last_modified = ?, source = ?, digest = ?, whole_asked = ?"
    let row = try statement("UPDATE feed SET \(columns) WHERE \(column) = ?")
    defer { row.clear() }
    let validators = renewal.validators
    row.bind(renewal.timestamp.timeIntervalSinceReferenceDate, at: 1)
    row.bind(validators.etag, at: 2)
    row.bind(validators.lastModified, at: 3)
    row.bind(validators.source?.absoluteString, at: 4)
    row.bind(validators.digest.map { Int64(bitPattern: $0.value) }, at: 5)
    row.bind(validators.wholeAsked?.timeIntervalSinceReferenceDate, at: 6)
    bind(row)
    try db.step(row, expecting: SQLITE_DONE)
  }

  private func arguments(_ timestamp: Date, _ validators: FeedValidators) -> StatementArguments {
    [
      timestamp.timeIntervalSinceReferenceDate, validators.etag, validators.lastModified,
      validators.source?.absoluteString, validators.digest.map { Int64(bitPattern: $0.value) },
      validators.wholeAsked?.timeIntervalSinceReferenceDate,
    ]
  }
}

extension Row {
  /// The value of a column; throws when it is damaged. GRDB's own subscripts trap when a value has the wrong
  /// type. A strict table prevents that, unless a bit in the file has flipped.
  func value<Value: DatabaseValueConvertible>(_ column: Int) throws -> Value {
    let stored: DatabaseValue = self[column]
    guard let value = Value.fromDatabaseValue(stored) else {
      throw FeedDatabaseFailure(.damaged("the value in column \(column) of a row has the wrong type"))
    }
    return value
  }
}
