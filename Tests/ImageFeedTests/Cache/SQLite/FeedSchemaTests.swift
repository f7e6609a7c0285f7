import Foundation
import GRDB
import TestSupport
import Testing

@testable import ImageFeed

/// A cache file that an older release wrote, `Fixtures/schema-1.db`: the case study's feed and one of odd texts.
@Suite(.settled) struct FeedSchemaTests {
  private static let study = URL(string: "http://127.0.0.1:8791/feed.json")!
  private static let odd = URL(string: "http://127.0.0.1:8791/odd.json")!
  private static let savedAt = Date(timeIntervalSinceReferenceDate: 817007449.6310784)
  private let folder = TemporaryFolder()
  private var path: String { folder.file() }

  private func store() throws -> SQLiteFeedStore {
    let fixture = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Fixtures/schema-1.db")
    try Data(contentsOf: fixture).write(to: URL(filePath: path))
    return SQLiteFeedStore(path: path) { Issue.record("The file was set aside as \($0)") }
  }

  private func checkContents(_ store: SQLiteFeedStore) throws {
    let study = try #require(try store.retrieve(for: Self.study))
    #expect(study.images.map(\.url.absoluteString) == (1...8).map { "https://url-\($0).com" })
    #expect(study.images.map { $0.location != nil } == [true, true, false, false, true, true, true, true])
    #expect(study.timestamp == Self.savedAt)
    #expect(study.validators.isEmpty)
    let odd = try #require(try store.retrieve(for: Self.odd))
    #expect(odd.images.map(\.description) == ["Zürich 👩‍👧\u{0}", nil])
    #expect(odd.images.map(\.location) == [nil, ""])
    #expect(odd.images.map(\.url.absoluteString) == ["https://example.com/a%20b?c=d&e#f", "http://[::1]:80/"])
    #expect(try store.summaries().map(\.imageCount) == [8, 2])
  }

  @Test func `an older file is read as it is, and stays as it is`() throws {
    let store = try store()
    let before = try Data(contentsOf: URL(filePath: path))
    try checkContents(store)
    store.close()
    #expect(try Data(contentsOf: URL(filePath: path)) == before)
  }

  @Test func `the first save brings an older file up to date with everything in it`() throws {
    let store = try store()
    let validators = FeedValidators(etag: "W/\"a\\\"b\"", lastModified: "Sun, 06 Nov 1994 08:49:37 GMT")
    let feed = CachedFeed(images: makeFeed().images, timestamp: noon, validators: validators)
    #expect(try store.replace(for: address, with: feed, now: noon) == .replaced)
    #expect(try store.retrieve(for: address) == feed)
    #expect(try store.delete(for: address))
    try checkContents(store)
    store.close()
    #expect(try version() == FeedSchema.version)
    #expect(try tables() == newTables())
  }

  @Test func `a feed of an older file is renewed with what the server now says`() throws {
    let store = try store()
    let saved = try #require(try store.retrieve(for: Self.study))
    let now = Self.savedAt + 60
    let renewed = CachedFeed(images: saved.images, timestamp: now, validators: FeedValidators(etag: "\"1\""))
    #expect(try store.replace(for: Self.study, with: renewed, now: now) == .renewed)
    #expect(try store.retrieve(for: Self.study) == renewed)
  }

  @Test func `a save that fails leaves an older file in its version`() throws {
    let store = try store()
    try execute("CREATE TRIGGER no_insert BEFORE INSERT ON feed BEGIN SELECT RAISE(ABORT, 'as told'); END")
    #expect(throws: FeedStoreError.self) { try store.replace(for: address, with: makeFeed()) }
    try checkContents(store)
    store.close()
    #expect(try version() == 1)
  }

  @Test func `a file of a version to come is refused, and nothing in it changes`() throws {
    let store = try store()
    try execute("PRAGMA user_version = \(FeedSchema.version + 1)")
    let before = try Data(contentsOf: URL(filePath: path))
    let refusal = FeedStoreError.Cause.newerSchema(FeedSchema.version + 1)
    #expect(throws: FeedStoreError.retrieval(refusal, place: path)) { try store.retrieve(for: Self.study) }
    #expect(throws: FeedStoreError.insertion(refusal, place: path)) {
      try store.replace(for: address, with: makeFeed())
    }
    #expect("\(refusal)".contains("Update this program"))
    store.close()
    #expect(try Data(contentsOf: URL(filePath: path)) == before)
  }

  // MARK: A file of schema 2

  private static let tagged = URL(string: "http://127.0.0.1:8792/feed.json")!

  @Test func `a file of schema 2 keeps its validators, and is requested as a whole once more`() throws {
    let fixture = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Fixtures/schema-2.db")
    try Data(contentsOf: fixture).write(to: URL(filePath: path))
    let store = SQLiteFeedStore(path: path) { Issue.record("The file was set aside as \($0)") }
    let validators = FeedValidators(etag: "W/\"a\\\"b\"", lastModified: "Sun, 06 Nov 1994 08:49:37 GMT")
    let saved = try #require(try store.retrieve(for: Self.tagged))
    #expect(saved.validators == validators && saved.images.count == 8)
    #expect(try store.summary(for: Self.tagged)?.validators == validators)
    #expect(validators.trusted(at: saved.timestamp) == FeedValidators())
    #expect(try version() == 2)

    var renewed = validators
    renewed.wholeAsked = saved.timestamp + 1
    renewed.digest = BodyDigest(value: .max)
    renewed.source = Self.odd
    let renewal = FeedRenewal(timestamp: saved.timestamp + 1, since: validators, validators: renewed)
    #expect(try store.renew(for: Self.tagged, with: renewal, now: saved.timestamp + 1) == .renewed)
    #expect(
      try store.retrieve(for: Self.tagged)
        == CachedFeed(saved.images, timestamp: saved.timestamp + 1, validators: renewed))
    #expect(try store.summaries().map(\.imageCount) == [8, 2])
    store.close()
    #expect(try version() == FeedSchema.version)
    #expect(try tables() == newTables())
  }

  // MARK: A file of schema 6

  @Test func `a file of schema 6 keeps all, and counts the items without a picture from the next save on`() throws {
    let fixture = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Fixtures/schema-6.db")
    try Data(contentsOf: fixture).write(to: URL(filePath: path))
    let store = SQLiteFeedStore(path: path) { Issue.record("The file was set aside as \($0)") }
    let blog = URL(string: "http://127.0.0.1:8793/blog.xml")!
    let saved = try #require(try store.retrieve(for: blog))
    #expect(saved.images.map(\.url.absoluteString) == ["http://a/s.png"])
    #expect(saved.images.title == "Harbours & seas" && saved.validators.etag == "\"1\"")
    #expect(saved.images.omittedItems == 0)
    #expect(try version() == 6)

    var images = FeedImages.Builder(count: 1)
    images.append(saved.images[0])
    (images.title, images.omittedItems) = (saved.images.title, 2)
    let counted = CachedFeed(
      images: images.finish(), timestamp: saved.timestamp + 1, validators: saved.validators)
    #expect(try store.replace(for: blog, with: counted, now: saved.timestamp + 1) == .renewed)
    #expect(try store.retrieve(for: blog)?.images.omittedItems == 2)
    let words = URL(string: "http://127.0.0.1:8793/words.xml")!
    #expect(try store.retrieve(for: words)?.images.title == "Words")
    #expect(try store.retrieve(for: words)?.images.omittedItems == 0)
    store.close()
    #expect(try version() == FeedSchema.version)
    #expect(try tables() == newTables())
  }

  // MARK: One which a watch of three feeds has left

  @Test func `polls noted in a file of schema 6 are known, and go on`() throws {
    let fixture = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Fixtures/schema-6-polls.db")
    try Data(contentsOf: fixture).write(to: URL(filePath: path))
    let store = SQLiteFeedStore(path: path) { Issue.record("The file was set aside as \($0)") }
    let polled = URL(string: "http://127.0.0.1:8404/0")!
    let before = try FeedExplanation(of: polled, in: store)
    #expect(before.decisions.map(\.request) == ["all of it"] + Array(repeating: "changes", count: 5))
    #expect(before.saved?.imageCount == 20 && before.saved?.validators.etag == "\"/0\"")
    #expect(before.health?.polls == 6 && before.health?.reason == "the interval is 1 second")
    let (feed, due) = (try #require(before.health), try #require(before.health?.due))
    let claim = PollClaim(
      feed: feed, host: "127.0.0.1:8404", now: due, lease: .seconds(35), dueIfLost: due + 1)
    guard case .granted(var health, let since) = try store.claim(claim) else {
      Issue.record("it is due")
      return
    }
    #expect(since == before.saved?.validators)
    #expect(try version() == FeedSchema.version)
    health.polls += 1
    let decision = PollDecision(time: due, request: "changes", outcome: "", due: nil, rule: .interval, reason: "")
    let record = PollRecord(
      feed: health, host: HostHealth(name: "127.0.0.1:8404"), decision: decision,
      renewal: FeedRenewal(timestamp: due, since: since, validators: since))
    #expect(try store.record(record, now: due))
    let after = try FeedExplanation(of: polled, in: store)
    #expect(after.decisions == before.decisions + [decision])
    #expect(after.saved?.timestamp == due && after.health == health)
    let other = URL(string: "http://127.0.0.2:8404/1")!
    #expect(try store.decisions(for: other).count == 6)
    store.close()
    #expect(try tables() == newTables())
  }

  @Test func `a new file has the tables to which all steps lead`() throws {
    let stepped = try DatabaseQueue().writeWithoutTransaction { db in
      try db.execute(sql: FeedSchema.steps[0])
      try FeedSchema.migrate(db, from: 1)
      return try Self.tables(of: db)
    }
    #expect(try newTables() == stepped)
    #expect(stepped.contains("feed.omitted INTEGER 1 0 0") && stepped.contains("pack strict, without rowid"))
    #expect(!stepped.contains { $0.hasPrefix("image") })
  }

  private func version() throws -> Int? { try read { try Int.fetchOne($0, sql: "PRAGMA user_version") } }

  private func tables() throws -> [String] { try read { try Self.tables(of: $0) } }

  /// Each table, its columns in their order, and what they refer to; not the text that made them.
  private static func tables(of db: Database) throws -> [String] {
    let tables = try Row.fetchAll(db, sql: "PRAGMA table_list").filter { $0["schema"] as String == "main" }
    return try tables.map { $0["name"] as String }.filter { !$0.hasPrefix("sqlite_") }.sorted().flatMap { name in
      let table = tables.first { $0["name"] as String == name }!
      let columns = try Row.fetchAll(db, sql: "PRAGMA table_xinfo(\(name))").map { row in
        "\(name).\(row["name"] as String) \(row["type"] as String) \(row["notnull"] as Int) "
          + "\(row["dflt_value"] as String? ?? "none") \(row["pk"] as Int)"
      }
      let keys = try Row.fetchAll(db, sql: "PRAGMA foreign_key_list(\(name))").map { "\(name) refers to \($0)" }
      let indexes = try Row.fetchAll(db, sql: "PRAGMA index_list(\(name))").map { "\(name) has \($0)" }
      return [
        "\(name)\(table["strict"] as Int == 1 ? " strict" : "")\(table["wr"] as Int == 1 ? ", without rowid" : "")"
      ] + columns + keys + indexes
    }
  }

  /// Those of a file that begins today.
  private func newTables() throws -> [String] {
    try DatabaseQueue().writeWithoutTransaction { db in
      try FeedSchema.migrate(db, from: 0)
      return try Self.tables(of: db)
    }
  }

  private func read<R: Sendable>(_ body: @Sendable (Database) throws -> R) throws -> R {
    let queue = try DatabaseQueue(path: path)
    defer { try? queue.close() }
    return try queue.read(body)
  }

  private func execute(_ sql: String) throws {
    let queue = try DatabaseQueue(path: path)
    try queue.writeWithoutTransaction { try $0.execute(sql: sql) }
    try queue.close()
  }
}
