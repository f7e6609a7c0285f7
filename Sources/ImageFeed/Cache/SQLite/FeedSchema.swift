import GRDB

/// The tables of a cache file, and the migration of a file that an older release wrote.
///
/// A file's header identifies its program (`application_id`) and the version of its tables (`user_version`). A released step
/// never changes: add a new step, and what it leads to in ``whole``.
///
/// Reading changes nothing, so it understands every version; the first transaction that writes runs the missing steps,
/// before its own work and as a part of it: all of it happens or nothing.
enum FeedSchema {
  /// `FEED` in ASCII.
  static let applicationID = 0x4645_4544

  static var version: Int { steps.count }

  /// The first that knows of polling.
  static let versionWithPolls = 4

  /// The first that keeps images in packs instead of a row each.
  static let versionWithPacks = 6

  /// The first that knows how many items had no picture.
  static let versionWithOmitted = 7

  /// The first that keeps the latest polls in a journal.
  static let versionWithJournal = 8

  /// The first that knows whether a feed came out of a private network.
  static let versionWithNetwork = 9

  /// The first that keeps what feeds had.
  static let versionWithHistory = 10

  /// The statements that lead from each version to the next.
  static let steps = [
    """
    CREATE TABLE feed (
      id INTEGER PRIMARY KEY,
      address TEXT NOT NULL UNIQUE,
      timestamp REAL NOT NULL, -- seconds since 2001, exactly what Foundation's Date holds
      images INTEGER NOT NULL  -- how many rows of image belong to it
    ) STRICT;
    CREATE TABLE image (
      feed INTEGER NOT NULL REFERENCES feed (id),
      position INTEGER NOT NULL,
      id BLOB NOT NULL,
      description TEXT,
      location TEXT,
      url TEXT NOT NULL,
      PRIMARY KEY (feed, position)
    ) STRICT, WITHOUT ROWID;
    """,
    """
    ALTER TABLE feed ADD COLUMN etag TEXT;
    ALTER TABLE feed ADD COLUMN last_modified TEXT;
    """,
    """
    ALTER TABLE feed ADD COLUMN source TEXT;      -- the address that gave etag and last_modified, if it is another
    ALTER TABLE feed ADD COLUMN digest INTEGER;   -- of the body's bytes, as a number with a sign
    ALTER TABLE feed ADD COLUMN whole_asked REAL; -- as timestamp
    """,
    """
    CREATE TABLE poll (address TEXT PRIMARY KEY, health BLOB NOT NULL) STRICT, WITHOUT ROWID;
    CREATE TABLE host (name TEXT PRIMARY KEY, health BLOB NOT NULL) STRICT, WITHOUT ROWID;
    CREATE TABLE decision (
      address TEXT NOT NULL,
      place INTEGER NOT NULL, -- a ring: the newest takes the place of the oldest
      decision BLOB NOT NULL,
      PRIMARY KEY (address, place)
    ) STRICT, WITHOUT ROWID;
    """,
    """
    ALTER TABLE feed ADD COLUMN title TEXT;
    ALTER TABLE image ADD COLUMN published INTEGER; -- seconds since 1970
    CREATE TABLE shown (
      address TEXT PRIMARY KEY,
      ids BLOB NOT NULL -- 20 bytes each, the latest last: see ShownImages
    ) STRICT, WITHOUT ROWID;
    """,
    """
    CREATE TABLE pack (
      feed INTEGER NOT NULL REFERENCES feed (id),
      part INTEGER NOT NULL,
      count INTEGER NOT NULL, -- of its images
      images BLOB NOT NULL,   -- see ImagePack
      PRIMARY KEY (feed, part)
    ) STRICT, WITHOUT ROWID;
    """,
    """
    ALTER TABLE feed ADD COLUMN omitted INTEGER NOT NULL DEFAULT 0; -- items without a picture; 0 where nobody counted
    """,
    """
    CREATE TABLE journal (id INTEGER PRIMARY KEY, entries BLOB NOT NULL) STRICT; -- see PollJournal
    """,
    """
    ALTER TABLE feed ADD COLUMN private INTEGER; -- 1 when it came out of a private network, 0 when not
    """,
    """
    ALTER TABLE feed ADD COLUMN seen BLOB; -- when its images were first seen: see FirstSeen
    """ + history + "INSERT INTO history (address, title, private) SELECT address, title, private FROM feed;",
  ]

  /// The items that feeds had, and stars.
  private static let history = """

    CREATE TABLE history (
      id INTEGER PRIMARY KEY,
      address TEXT NOT NULL UNIQUE,
      title TEXT,                          -- what the feed called itself last
      private INTEGER,                     -- as that of feed
      kept INTEGER NOT NULL DEFAULT 0,     -- how many rows of kept belong to it
      revision INTEGER NOT NULL DEFAULT 0, -- counts the changes of its items
      indexed INTEGER NOT NULL DEFAULT -1  -- the revision that the index of words has
    ) STRICT;
    CREATE TABLE kept (
      id INTEGER PRIMARY KEY,
      history INTEGER NOT NULL REFERENCES history (id),
      item BLOB NOT NULL,      -- 20 bytes: see FeedImage.ID.stored
      rank INTEGER NOT NULL,   -- when it was published, or else first seen: all times in seconds since 1970
      first INTEGER NOT NULL,  -- when it was seen for the first time
      last INTEGER NOT NULL,   -- and the last
      link INTEGER,            -- stands for the URL of its post
      content BLOB NOT NULL    -- a pack of one image
    ) STRICT;
    CREATE UNIQUE INDEX kept_item ON kept (history, item);
    CREATE INDEX kept_rank ON kept (history, rank);
    CREATE INDEX kept_last ON kept (history, last);
    CREATE INDEX kept_link ON kept (history, link) WHERE link IS NOT NULL;
    CREATE TABLE star (
      history INTEGER NOT NULL REFERENCES history (id),
      item BLOB NOT NULL,
      time INTEGER NOT NULL,
      PRIMARY KEY (history, item)
    ) STRICT, WITHOUT ROWID;
    """

  /// The tables of a new file: those to which all steps lead, which take twice as long.
  static let whole = """
    CREATE TABLE feed (
      id INTEGER PRIMARY KEY,
      address TEXT NOT NULL UNIQUE,
      timestamp REAL NOT NULL,
      images INTEGER NOT NULL,
      etag TEXT,
      last_modified TEXT,
      source TEXT,
      digest INTEGER,
      whole_asked REAL,
      title TEXT,
      omitted INTEGER NOT NULL DEFAULT 0,
      private INTEGER,
      seen BLOB
    ) STRICT;
    CREATE TABLE poll (address TEXT PRIMARY KEY, health BLOB NOT NULL) STRICT, WITHOUT ROWID;
    CREATE TABLE host (name TEXT PRIMARY KEY, health BLOB NOT NULL) STRICT, WITHOUT ROWID;
    CREATE TABLE decision (
      address TEXT NOT NULL,
      place INTEGER NOT NULL,
      decision BLOB NOT NULL,
      PRIMARY KEY (address, place)
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE shown (address TEXT PRIMARY KEY, ids BLOB NOT NULL) STRICT, WITHOUT ROWID;
    CREATE TABLE pack (
      feed INTEGER NOT NULL REFERENCES feed (id),
      part INTEGER NOT NULL,
      count INTEGER NOT NULL,
      images BLOB NOT NULL,
      PRIMARY KEY (feed, part)
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE journal (id INTEGER PRIMARY KEY, entries BLOB NOT NULL) STRICT;
    """ + history

  /// The version of a file's tables; 0 when nothing was ever saved in it.
  ///
  /// - Throws: when the file is another program's, a newer release's, or claims to be ours and has no tables.
  static func version(of db: Database) throws -> Int {
    let application = try db.integer("PRAGMA application_id")
    let version = try db.integer("PRAGMA user_version")
    if application == applicationID {
      guard version <= Self.version else { throw FeedDatabaseFailure(.newerSchema(version)) }
      guard version > 0 else { throw FeedDatabaseFailure(.damaged("it has no schema version")) }
      return version
    }
    let tables = try db.integer("SELECT count(*) FROM sqlite_master")
    guard application == 0, version == 0, tables == 0 else { throw FeedDatabaseFailure(.foreign) }
    return 0
  }

  /// Runs the steps that a file of `version` lacks. Call it in a transaction that writes.
  static func migrate(_ db: Database, from version: Int) throws {
    guard version < Self.version else { return }
    if version == 0 { try db.execute(sql: whole) }
    for (number, step) in zip(1..., steps).dropFirst(version == 0 ? Self.version : version) {
      try db.execute(sql: step)
      guard number == versionWithPacks else { continue }
      try FeedTables(db: db, version: number - 1, journal: PollJournal()).packRows()
      try db.execute(sql: "DROP TABLE image")
    }
    try db.execute(sql: "PRAGMA application_id = \(applicationID); PRAGMA user_version = \(Self.version)")
  }
}
