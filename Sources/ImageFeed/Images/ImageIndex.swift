import Foundation
import GRDB

/// The index of a folder of pictures: what is there, how large, and when it was used last.
///
/// Every change is one transaction. A row is written before its file and deleted with it, so that a process which ends in
/// between leaves a row without a file, never a file that nobody counts.
struct ImageIndex {
  /// One picture.
  struct Entry {
    let bytes: Int
    let timestamp: Date
    let lifetime: Duration
    let validators: FeedValidators
    let used: Date
  }

  /// How much is left when room is made.
  static let share = 0.7
  /// A use is written down when the last one was this long ago: a write for every picture shown would be too many.
  static let useResolution: TimeInterval = 60
  /// What an empty index takes, with its log.
  static let ownBytes = 256 << 10
  private static let version = 1

  let folder: String
  let limit: Int
  let busyTimeout: Duration
  private let file: CacheFile
  private var connection: (database: DatabaseConnection, identity: CacheFile.Identity)?

  init(folder: String, limit: Int, busyTimeout: Duration) {
    self.folder = folder
    self.limit = limit
    self.busyTimeout = busyTimeout
    file = CacheFile(path: "\(folder)/index.sqlite")
  }

  mutating func close() { connection = nil }

  /// Removes the index, which is made anew by the next call.
  mutating func discard() {
    connection = nil
    unlink(file.path)
    for companion in CacheFile.companions { unlink(file.path + companion) }
  }

  // MARK: Rows

  mutating func row(for url: URL, creating: Bool) throws -> Entry? {
    try read(creating: creating) { db in try Self.entry(url, db) } ?? nil
  }

  mutating func usage() throws -> ImageStoreUsage {
    let row = try read(creating: false) { try Row.fetchOne($0, sql: "SELECT count(*), total(bytes) FROM image") } ?? nil
    return ImageStoreUsage(count: row?[0] ?? 0, bytes: Int(row?[1] as Double? ?? 0), limit: limit)
  }

  /// Notes that a picture was used.
  mutating func touch(_ url: URL, _ entry: Entry, now: Date) throws {
    // Also a use in the future: the clock was wrong then.
    guard abs(now.timeIntervalSince(entry.used)) >= Self.useResolution else { return }
    try write { db in
      try db.cachedStatement(sql: "UPDATE image SET used = ? WHERE url = ?")
        .execute(arguments: [now.timeIntervalSinceReferenceDate, url.absoluteString])
    }
  }

  /// The server was asked again, and the picture is the same.
  mutating func renew(_ url: URL, _ entry: Entry, with image: Saved<FetchedImage>, now: Date) throws {
    try write { db in try Self.insert(url, entry.bytes, image, now: now, db) }
  }

  /// Makes room for the file of a picture, beside the one that it replaces, and counts it as there.
  ///
  /// - Returns: false when it is larger than what is left after making room.
  mutating func reserve(_ bytes: Int, for url: URL, _ image: Saved<FetchedImage>, now: Date) throws -> Bool {
    let room = Int(Double(limit - Self.ownBytes) * Self.share)
    guard bytes <= room else { return false }
    let (limit, folder) = (limit - Self.ownBytes, folder)
    try write { db in
      let old = try Self.entry(url, db)?.bytes ?? 0
      var total = try Int(Double.fetchOne(db, sql: "SELECT total(bytes) FROM image") ?? 0)
      if total + bytes > limit {
        let rows = try Row.fetchCursor(
          db, sql: "SELECT url, bytes FROM image WHERE url <> ? ORDER BY used, url", arguments: [url.absoluteString])
        while total + bytes > room, let row = try rows.next() {
          try Self.delete(row[0], in: folder, db)
          total -= row[1]
        }
      }
      try Self.insert(url, old + bytes, image, now: now, db)
    }
    return true
  }

  /// The file is written: only its own bytes count now.
  mutating func settle(_ url: URL, bytes: Int) throws {
    try write { db in
      try db.cachedStatement(sql: "UPDATE image SET bytes = ? WHERE url = ?").execute(arguments: [
        bytes, url.absoluteString,
      ])
    }
  }

  mutating func forget(_ url: URL) throws {
    let folder = folder
    try write { db in try Self.delete(url.absoluteString, in: folder, db) }
  }

  mutating func forgetAll() throws {
    guard file.identity != nil else { return }
    let folder = folder
    try write { db in
      for url in try String.fetchAll(db, sql: "SELECT url FROM image") { try Self.delete(url, in: folder, db) }
    }
  }

  // MARK: Statements

  private static func entry(_ url: URL, _ db: Database) throws -> Entry? {
    let sql = "SELECT bytes, timestamp, lifetime, etag, last_modified, used FROM image WHERE url = ?"
    return try Row.fetchOne(db.cachedStatement(sql: sql), arguments: [url.absoluteString]).map { row in
      Entry(
        bytes: row[0], timestamp: Date(timeIntervalSinceReferenceDate: row[1]), lifetime: .seconds(row[2] as Double),
        validators: FeedValidators(etag: row[3], lastModified: row[4]),
        used: Date(timeIntervalSinceReferenceDate: row[5]))
    }
  }

  private static func insert(
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

  /// The file first: a row without a file does no harm.
  private static func delete(_ url: String, in folder: String, _ db: Database) throws {
    if let url = URL(string: url), unlink("\(folder)/data/\(ImageFile.name(for: url))") != 0, errno != ENOENT {
      throw POSIXError(.init(rawValue: errno) ?? .EIO)
    }
    try db.cachedStatement(sql: "DELETE FROM image WHERE url = ?").execute(arguments: [url])
  }

  // MARK: Connection

  private mutating func read<R>(creating: Bool, _ body: (Database) throws -> R) throws -> R? {
    guard let connection = try connect(creating: creating) else { return nil }
    return try connection.queue.writeWithoutTransaction(body)
  }

  private mutating func write<R>(_ body: (Database) throws -> R) throws -> R? {
    guard let connection = try connect(creating: true) else { return nil }
    return try connection.queue.writeWithoutTransaction { db in
      var result: R?
      try db.inTransaction(.immediate) {
        result = try body(db)
        return .commit
      }
      return result
    }
  }

  private mutating func connect(creating: Bool) throws -> DatabaseConnection? {
    let present = file.identity
    if let connection, connection.identity.isSameFile(as: present) { return connection.database }
    connection = nil
    guard present != nil || creating else { return nil }
    try file.createFolder()
    connection = try file.withFolderLock(exclusively: true, patience: busyTimeout) {
      if file.identity == nil {
        file.removeStrayCompanions()
        try file.create()
      }
      guard let identity = file.identity, identity.isRegular else { throw FeedDatabaseFailure(.notAFile) }
      return (try open(), identity)
    }
    return connection?.database
  }

  /// Opens the index, made from the files if it is new. Call it under the exclusive folder lock.
  private func open() throws -> DatabaseConnection {
    var configuration = Configuration()
    configuration.busyMode = .timeout(busyTimeout / .seconds(1))
    configuration.label = "ImageStore"
    configuration.prepareDatabase { db in
      try db.execute(
        sql: "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA journal_size_limit = 65536")
    }
    let database = try DatabaseConnection(path: file.path, configuration)
    try database.queue.writeWithoutTransaction { db in
      let version = try Int.fetchOne(db, sql: "PRAGMA user_version") ?? 0
      if version > Self.version { throw FeedDatabaseFailure(.newerSchema(version)) }
      try db.inTransaction(.immediate) {
        if version == 0 {
          try db.execute(
            sql: """
              CREATE TABLE image (
                url TEXT PRIMARY KEY,
                bytes INTEGER NOT NULL,    -- of its file; while that is written, of the old and the new one
                timestamp REAL NOT NULL,   -- seconds since 2001, as in Foundation's Date
                lifetime REAL NOT NULL,    -- seconds
                etag TEXT,
                last_modified TEXT,
                used REAL NOT NULL
              ) STRICT, WITHOUT ROWID;
              CREATE INDEX image_used ON image (used);
              PRAGMA user_version = \(Self.version);
              """)
        }
        try adoptFiles(into: db)
        return .commit
      }
    }
    return database
  }

  /// Takes up files that no row names, newest uses first as far as there is room, and removes what nobody can use.
  private func adoptFiles(into db: Database) throws {
    let root = "\(folder)/data"
    var total = try Int(Double.fetchOne(db, sql: "SELECT total(bytes) FROM image") ?? 0)
    var known: Set<String> = []
    for url in try String.fetchAll(db, sql: "SELECT url FROM image") {
      if let url = URL(string: url) { known.insert(ImageFile.name(for: url)) }
    }
    for name in (try? FileManager.default.subpathsOfDirectory(atPath: root)) ?? [] {
      let path = "\(root)/\(name)"
      guard name.utf8.count > 3, !known.contains(name), let identity = CacheFile.identity(of: path), identity.isRegular
      else { continue }
      if name.hasSuffix(".new") {
        // Another process may be writing it.
        if Date().timeIntervalSince(identity.changed) > 600 { unlink(path) }
        continue
      }
      let bytes = Int(identity.size)
      guard total + bytes <= limit - Self.ownBytes, let contents = FileManager.default.contents(atPath: path),
        let saved = ImageFile(contents), ImageFile.name(for: saved.url) == name
      else {
        unlink(path)
        continue
      }
      try Self.insert(saved.url, bytes, saved.image, now: identity.changed, db)
      total += bytes
    }
  }
}
