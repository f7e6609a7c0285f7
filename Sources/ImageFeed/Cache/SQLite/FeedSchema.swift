/// The tables of a cache file.
///
/// No earlier version was released, so a file with a different version is refused; the first release that changes the
/// tables must include migrations.
enum FeedSchema {
  /// `FEED` in ASCII.
  static let applicationID = 0x4645_4544

  static let version = 11

  static let kind = SQLiteKind(label: "FeedStore", applicationID: applicationID, version: version, schema: tables)

  private static let tables = """
    CREATE TABLE feed (
      id INTEGER PRIMARY KEY,
      address TEXT NOT NULL UNIQUE,
      timestamp REAL NOT NULL,            -- seconds since 2001, exactly what Foundation's Date holds
      images INTEGER NOT NULL,            -- how many its packs have
      etag TEXT,
      last_modified TEXT,
      source TEXT,                        -- the address that gave etag and last_modified, if it is another
      digest INTEGER,                     -- of the body's bytes, as a number with a sign
      whole_asked REAL,                   -- as timestamp
      title TEXT,
      omitted INTEGER NOT NULL DEFAULT 0, -- items without an image; 0 where nobody counted
      private INTEGER,                    -- 1 when it came out of a private network, 0 when not
      seen BLOB                           -- when its images were first seen: see FirstSeen
    ) STRICT;
    CREATE TABLE pack (
      feed INTEGER NOT NULL REFERENCES feed (id),
      part INTEGER NOT NULL,
      count INTEGER NOT NULL, -- of its images
      images BLOB NOT NULL,   -- see ImagePack
      PRIMARY KEY (feed, part)
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE note (
      name TEXT NOT NULL,
      kind INTEGER NOT NULL,  -- below 128, name is the address of a feed
      place INTEGER NOT NULL, -- where there are several of a kind
      content BLOB NOT NULL,  -- see NoteFields
      PRIMARY KEY (name, kind, place)
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE journal (id INTEGER PRIMARY KEY, entries BLOB NOT NULL) STRICT; -- see NoteJournal
    CREATE TABLE shown (
      address TEXT PRIMARY KEY,
      ids BLOB NOT NULL -- 20 bytes each, the latest last: see ShownImages
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE history (
      id INTEGER PRIMARY KEY,
      address TEXT NOT NULL UNIQUE,
      title TEXT,                          -- what the feed called itself last
      private INTEGER,                     -- of the feeds that had its kept items: 0 if one was public
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
}
