import FeedStream
import Foundation
import GRDB
import ImageFeed

/// The tables of a fleet in a file, inside a transaction: they do what the scripts of ``RedisFleet`` do.
struct FleetTables {
  let db: Database
  /// The fleet's time, in milliseconds since 1970, as all times here.
  var now: Int64 = 0
  /// How long the log keeps updates.
  let logDuration: Duration

  /// Stands for never: beyond every time.
  static let never: Int64 = 9_000_000_000_000_000

  /// The application's id is `FLEE` in ASCII.
  static let kind = TableFile.Kind("Fleet", applicationID: 0x464C_4545, version: 3, schema: schema)

  /// A feed without a host is saved, and not requested. A host without a time has no feed. Long values come last.
  private static let schema = """
    CREATE TABLE host (
      name TEXT PRIMARY KEY,
      opens INTEGER,
      paused INTEGER,
      reason TEXT NOT NULL DEFAULT '',
      nonce TEXT,
      worker TEXT,
      rests INTEGER
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX host_opens ON host (opens, name) WHERE opens IS NOT NULL;
    CREATE INDEX host_idle ON host (name) WHERE opens IS NULL;
    CREATE TABLE feed (
      id INTEGER PRIMARY KEY,
      address TEXT NOT NULL UNIQUE,
      host TEXT,
      due INTEGER,
      version INTEGER,
      record TEXT,
      document BLOB
    ) STRICT;
    CREATE INDEX feed_due ON feed (host, due, address) WHERE host IS NOT NULL;
    CREATE TABLE done (nonce TEXT PRIMARY KEY, until INTEGER NOT NULL, entry INTEGER) STRICT, WITHOUT ROWID;
    CREATE INDEX done_until ON done (until);
    CREATE TABLE entry (id INTEGER PRIMARY KEY, address TEXT NOT NULL, version INTEGER NOT NULL) STRICT;
    CREATE TABLE last (entry INTEGER NOT NULL, edition INTEGER NOT NULL DEFAULT 0, clock REAL, raw REAL) STRICT;
    INSERT INTO last (entry) VALUES (0);
    """

  /// Gives a file of an older version what it lacks.
  func update() throws {
    let version = try one(Int.self, "PRAGMA user_version") ?? 0
    if version == 1 {
      try db.execute(
        sql: """
          ALTER TABLE host ADD COLUMN rests INTEGER;
          CREATE INDEX host_idle ON host (name) WHERE opens IS NULL;
          ALTER TABLE last ADD COLUMN edition INTEGER NOT NULL DEFAULT 0;
          """)
    }
    guard (1...2).contains(version) else { return }
    try db.execute(
      sql: """
        ALTER TABLE last ADD COLUMN clock REAL;
        ALTER TABLE last ADD COLUMN raw REAL;
        PRAGMA user_version = 3;
        """)
  }

  // MARK: Time

  /// The fleet's time when the machine's clock is `raw`.
  ///
  /// - Parameter notes: writes it, for the next one.
  func time(at raw: Double, _ sight: FleetTime.Sight?, notes: Bool) throws -> FleetTime {
    let last = try row("SELECT clock, raw FROM last")
    var time = FleetTime(clock: last?["clock"] ?? raw, raw: last?["raw"] ?? raw)
    try time.advance(
      to: raw, sight, isIdle: try one(Int.self, "SELECT 1 FROM host WHERE nonce IS NOT NULL LIMIT 1") == nil)
    if notes { try run("UPDATE last SET clock = ?, raw = ?", [time.clock, time.raw]) }
    return time
  }

  // MARK: Statements

  func run(_ sql: String, _ arguments: StatementArguments = StatementArguments()) throws {
    try db.cachedStatement(sql: sql).execute(arguments: arguments)
  }

  func one<Value: DatabaseValueConvertible & StatementColumnConvertible>(
    _ type: Value.Type, _ sql: String, _ arguments: StatementArguments = StatementArguments()
  ) throws -> Value? {
    try Value.fetchOne(db.cachedStatement(sql: sql), arguments: arguments)
  }

  func rows(_ sql: String, _ arguments: StatementArguments = StatementArguments()) throws -> [Row] {
    try Row.fetchAll(db.cachedStatement(sql: sql), arguments: arguments)
  }

  func row(_ sql: String, _ arguments: StatementArguments = StatementArguments()) throws -> Row? {
    try Row.fetchOne(db.cachedStatement(sql: sql), arguments: arguments)
  }

  // MARK: The list

  func noteList() throws { try run("UPDATE last SET edition = edition + 1") }
  func edition() throws -> Int64 { try one(Int64.self, "SELECT edition FROM last") ?? 0 }

  // MARK: Hosts

  /// Sets when a host's time comes: when a feed is due, it is not left alone, has rested, and not before `earliest`. Ends its
  /// lease.
  func open(_ host: String, notBefore earliest: Int64) throws {
    let pause = try one(Int64.self, "SELECT paused FROM host WHERE name = ? AND paused > ?", [host, now])
    let rest = try one(Int64.self, "SELECT rests FROM host WHERE name = ? AND rests > ?", [host, now])
    let due = try one(Int64.self, "SELECT due FROM feed WHERE host = ? ORDER BY due LIMIT 1", [host])
    guard due != nil || pause != nil || rest != nil else { return try run("DELETE FROM host WHERE name = ?", [host]) }
    try run(
      """
      INSERT INTO host (name, opens, paused, rests) VALUES (?1, ?2, ?3, ?4) ON CONFLICT (name) DO UPDATE SET opens = ?2,
        paused = ?3, reason = iif(?3 IS NULL, '', reason), nonce = NULL, worker = NULL, rests = ?4
      """, [host, due.map { max($0, earliest, pause ?? 0, rest ?? 0) }, pause, rest])
  }

  /// A request to a host has ended: it is left alone for a gap, whatever else is done with it.
  func rest(_ host: String, _ gap: Duration) throws {
    guard gap > .zero else { return }
    try run(
      """
      INSERT INTO host (name, rests) VALUES (?1, ?2) ON CONFLICT (name) DO UPDATE SET rests = max(coalesce(rests, 0), ?2)
      """, [host, now + gap.milliseconds])
  }

  /// Forgets hosts without feeds whose pauses and rests are over.
  func forgetIdle() throws {
    try run(
      """
      DELETE FROM host WHERE opens IS NULL AND nonce IS NULL AND coalesce(paused, 0) <= ?1 AND coalesce(rests, 0) <= ?1
      """, [now])
  }

  func isTaken(_ host: String) throws -> Bool {
    try one(Int.self, "SELECT 1 FROM host WHERE name = ? AND nonce IS NOT NULL", [host]) != nil
  }

  func openIfFree(_ host: String, notBefore earliest: Int64) throws {
    if try !isTaken(host) { try open(host, notBefore: earliest) }
  }
}
