import Foundation
import GRDB

/// The index of a folder of images: the images, their sizes, and their last uses.
///
/// Every change is one transaction. A row is written before its file, again together with the file, and deleted with
/// it. So a process that ends in between leaves a row without a file, but never an uncounted file. While an image is
/// replaced, its row describes the old file, and counts both.
struct ImageIndex {
  /// One image.
  struct Entry {
    let bytes: Int
    let timestamp: Date
    let lifetime: Duration
    let validators: FeedValidators
    let used: Date
  }

  /// The fraction of the limit to which the store is trimmed when room is made.
  static let share = 0.7
  /// The minimum time between two recorded uses, because recording every use would be too slow.
  static let useResolution: TimeInterval = 60
  /// The minimum size of the index, with its log, in bytes.
  static let ownBytes = 256 << 10
  /// The application ID is `FIMG` in ASCII.
  static let kind = SQLiteKind(label: "ImageStore", applicationID: 0x4649_4D47, version: 1, schema: schema)

  private static let schema = """
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
    """

  let folder: String
  let limit: Int
  /// The URLs of images that stay beyond the limit.
  private let kept: DiskImageStore.KeptImages
  private let shared: SharedFile<DatabaseConnection>

  init(folder: String, limit: Int, kept: @escaping DiskImageStore.KeptImages, busyTimeout: Duration) {
    self.folder = folder
    self.limit = limit
    self.kept = kept
    let file = CacheFile(path: "\(folder)/index.sqlite")
    shared = SharedFile(
      file, applicationID: Self.kind.applicationID, busyTimeout: busyTimeout, opensExclusively: true
    ) {
      try Self.open($0, of: folder, limit: limit, kept: kept, busyTimeout: busyTimeout)
    }
  }

  /// Runs `body`, and runs it again with a new connection or an index rebuilt from the files if that may help.
  func recovering<R>(_ body: () throws -> R) throws(FeedDatabaseFailure) -> R {
    try shared.recovering(by: .removing, body)
  }

  // MARK: Rows

  func row(for url: URL, creating: Bool) throws -> Entry? {
    try read(creating: creating) { db in try Self.entry(url, db) } ?? nil
  }

  func usage() throws -> ImageStoreUsage {
    try read(creating: false) { db in
      let count = try Int.fetchOne(db, sql: "SELECT count(*) FROM image") ?? 0
      return ImageStoreUsage(count: count, bytes: try Self.totalBytes(db), limit: limit)
    } ?? ImageStoreUsage(count: 0, bytes: 0, limit: limit)
  }

  /// The number and total bytes of the stored images among `urls`.
  func usage(of urls: Set<URL>) throws -> ImageStoreUsage {
    try read(creating: false) { db in
      let entries = try urls.compactMap { try Self.entry($0, db) }
      return ImageStoreUsage(count: entries.count, bytes: entries.reduce(0) { $0 + $1.bytes })
    } ?? ImageStoreUsage(count: 0, bytes: 0)
  }

  /// Records the use of an image. Waits for other processes only briefly.
  func touch(_ url: URL, _ entry: Entry, now: Date) throws {
    guard Self.isOld(entry.used, at: now) else { return }
    try waitingBriefly { db in
      try db.cachedStatement(sql: "UPDATE image SET used = ? WHERE url = ?")
        .execute(arguments: [now.timeIntervalSinceReferenceDate, url.absoluteString])
    }
  }

  /// Runs `body`, which waits for other processes only briefly, because somebody waits for an image.
  private func waitingBriefly(_ body: (Database) throws -> Void) throws {
    let usual = Int(min(shared.busyTimeout / .milliseconds(1), 1e9))
    try shared.connect(creating: false)?.queue.writeWithoutTransaction { db in
      try db.execute(sql: "PRAGMA busy_timeout = \(min(usual, 100))")
      defer { try? db.execute(sql: "PRAGMA busy_timeout = \(usual)") }
      try body(db)
    }
  }

  /// True if a use is recorded again. A use in the future is, too: the clock was wrong then.
  private static func isOld(_ use: Date, at now: Date) -> Bool { abs(now.timeIntervalSince(use)) >= useResolution }

  /// Records that the server confirmed the image.
  ///
  /// - Parameter entry: the image's row when its file was compared.
  /// - Returns: false if another process has changed the row since then.
  func renew(_ url: URL, _ entry: Entry, with image: Saved<FetchedImage>, now: Date) throws -> Bool {
    try write { db in
      guard let row = try Self.entry(url, db),
        (row.bytes, row.timestamp, row.validators) == (entry.bytes, entry.timestamp, entry.validators)
      else { return false }
      try Self.insert(url, row.bytes, image, now: now, db)
      return true
    } ?? false
  }

  /// Makes room for an image's file, in addition to the file that it replaces, and counts the new file. Only ``settle``
  /// records the new image's validators, because a process that fails in between leaves the old file.
  ///
  /// Kept images stay, and their bytes don't count. A kept image is saved regardless of its size.
  ///
  /// - Returns: false if the image doesn't fit even after all others are deleted.
  func reserve(_ bytes: Int, for url: URL, _ image: Saved<FetchedImage>, now: Date) throws -> Bool {
    try write { db in
      let limit = limit - (try Self.ownBytes(db))
      let room = Int(Double(limit) * Self.share)
      let old = try Self.entry(url, db)?.bytes
      let total = try Self.totalBytes(db)
      if bytes > room || total + bytes > limit {
        let kept = try kept()
        if !kept.contains(url) {
          guard bytes <= room else { return false }
          let counted = total - (try Self.bytes(of: kept, db))
          if counted + bytes > limit { try makeRoom(of: counted + bytes - room, but: kept.union([url]), now: now, db) }
        }
      }
      if let old {
        // Its use is recorded, so that no other process deletes the row.
        try db.cachedStatement(sql: "UPDATE image SET bytes = ?, used = ? WHERE url = ?")
          .execute(arguments: [old + bytes, now.timeIntervalSinceReferenceDate, url.absoluteString])
      } else {
        try Self.insert(url, bytes, image, now: now, db)
      }
      return true
    } ?? false
  }

  /// Puts an image's file in its place, and counts only that file.
  ///
  /// Both are one change to other processes, one of which may have deleted the row.
  func settle(
    _ url: URL, bytes: Int, _ image: Saved<FetchedImage>, now: Date, placing place: () throws -> Void
  ) throws {
    try write { db in
      try place()
      try Self.insert(url, bytes, image, now: now, db)
    }
  }

  /// Counts only the file at an image's place, after a failed save.
  func recount(_ url: URL, bytes: () -> Int) throws {
    _ = try write { db in
      try db.cachedStatement(sql: "UPDATE image SET bytes = ? WHERE url = ?")
        .execute(arguments: [bytes(), url.absoluteString])
    }
  }

  func forget(_ url: URL) throws {
    let folder = folder
    try write { db in try Self.delete(url.absoluteString, in: folder, db) }
  }

  /// Deletes an image without a usable file, unless its row was used recently: another process may be saving the image.
  /// Waits for other processes only briefly.
  func forgetUnused(_ url: URL, now: Date, if isUseless: () throws -> Bool) throws {
    let folder = folder
    try waitingBriefly { db in
      try db.inTransaction(.immediate) {
        if let row = try Self.entry(url, db), Self.isOld(row.used, at: now), try isUseless() {
          try Self.delete(url.absoluteString, in: folder, db)
        }
        return .commit
      }
    }
  }

  func forgetAll(but kept: Set<URL> = []) throws {
    guard shared.file.identity != nil || hasFiles else { return }
    let (folder, names) = (folder, Set(kept.map(\.absoluteString)))
    try write { db in
      for url in try String.fetchAll(db, sql: "SELECT url FROM image") where !names.contains(url) {
        try Self.delete(url, in: folder, db)
      }
    }
  }

  // MARK: Connection

  private var hasFiles: Bool { FileManager.default.fileExists(atPath: "\(folder)/data") }

  func read<R>(creating: Bool, _ body: (Database) throws -> R) throws -> R? {
    // If there are files, a missing index is rebuilt from them, even for a read.
    try refuseForeignFolder()
    return try shared.connect(creating: creating || hasFiles)?.queue.writeWithoutTransaction(body)
  }

  func write<R>(_ body: (Database) throws -> R) throws -> R? {
    try refuseForeignFolder()
    return try shared.connect(creating: true)?.queue.write(body)
  }

  /// Throws if the folder has no index yet, but has foreign files.
  private func refuseForeignFolder() throws {
    guard shared.file.identity == nil, ForeignFiles.isForeign(imageFolder: folder) else { return }
    throw FeedDatabaseFailure(.foreign)
  }

  /// Opens the index; builds it from the files if it is new.
  private static func open(
    _ file: OpenFile, of folder: String, limit: Int, kept: DiskImageStore.KeptImages, busyTimeout: Duration
  ) throws -> DatabaseConnection {
    var configuration = kind.configuration(busyTimeout: busyTimeout)
    configuration.prepareDatabase { db in
      try kind.check(db)
      try db.execute(
        sql: """
          PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA journal_size_limit = 65536;
          PRAGMA wal_autocheckpoint = 32
          """)
    }
    let database = try DatabaseConnection(file, configuration)
    try database.queue.write { db in
      try kind.prepare(db)
      try createFacts(db)
      try adoptFiles(of: folder, limit: limit, kept: kept, into: db)
    }
    return database
  }
}
