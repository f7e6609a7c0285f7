import FeedStream
import FeedStreamTesting
import Foundation
import GRDB
import ImageFeed
import Synchronization
import TestSupport
import Testing

/// Damaged or foreign files: they are reported, never deleted, and a damaged one prevents at most one save.
@Suite(.settled) struct DamagedFileTests {
  private let folder = TemporaryFolder()
  private let path: String
  private let asides = Asides()
  private let store: SQLiteFeedStore

  init() {
    path = folder.file()
    store = SQLiteFeedStore(path: path) { [asides] name in asides.names.withLock { $0.append(name) } }
  }

  @Test func `a file that isn't a database is refused by every call and left unchanged`() throws {
    try garbage.write(to: URL(filePath: path))
    for _ in 1...2 {
      #expect(throws: FeedStoreError.retrieval(.foreign, place: path)) { try store.retrieve(for: address) }
      #expect(throws: FeedStoreError.retrieval(.foreign, place: path)) { try store.summaries() }
      #expect(throws: FeedStoreError.insertion(.foreign, place: path)) {
        try store.replace(for: address, with: makeFeed())
      }
      #expect(throws: FeedStoreError.deletion(.foreign, place: path)) { try store.deleteAll() }
      #expect(throws: FeedStoreError.deletion(.foreign, place: path)) {
        try store.delete(for: address, if: .unreadable)
      }
    }
    #expect(try folder.contents == ["feeds.sqlite"])
    #expect(try Data(contentsOf: URL(filePath: path)) == garbage)
    #expect(asides.all == [])
  }

  @Test func `an empty file becomes a cache`() throws {
    try Data().write(to: URL(filePath: path))
    #expect(try store.replace(for: address, with: makeFeed()) == .replaced)
    #expect(try store.retrieve(for: address) == makeFeed())
    #expect(asides.all == [])
  }

  @Test func `a damaged cache is renamed by the next save`() throws {
    let damaged = try makeDamaged()
    #expect(try store.replace(for: address, with: makeFeed()) == .replaced)
    #expect(try store.retrieve(for: address) == makeFeed())
    let aside = try #require(asides.all.first)
    #expect(asides.all.count == 1)
    #expect(aside.hasPrefix(path + ".corrupt-2"))
    #expect(try Data(contentsOf: URL(filePath: aside)) == damaged)
    store.close()
    #expect(try folder.contents.count == 2)
  }

  @Test func `a damaged cache is renamed by a deletion`() throws {
    let damaged = try makeDamaged()
    try store.delete(for: address, if: .unreadable)
    #expect(try store.retrieve(for: address) == nil)
    #expect(try Data(contentsOf: URL(filePath: #require(asides.all.first))) == damaged)
    _ = try makeDamaged()
    try store.deleteAll()
    #expect(asides.all.count == 2)
    #expect(Set(asides.all).count == 2)
  }

  @Test func `validation of a damaged file reports that the feed is gone`() throws {
    _ = try makeDamaged()
    let time = VirtualTimeScheduler()
    let saved = FeedCache(store: store, on: time).feed(at: address)
    let (first, second) = (saved.validate().record(on: time), saved.validate().record(on: time))
    time.run()
    guard case .deletedUnreadable(.retrieval(.damaged, _))? = first.values.first else {
      Issue.record("\(first.values)")
      return
    }
    #expect(second.values == [.empty])
    #expect(asides.all.count == 1)
  }

  @Test func `damaged pages are reported, and the file is renamed by the next save`() throws {
    try store.replace(for: address, with: makeFeed(2000))
    store.close()
    try overwrite(path, from: 4096, to: nil)
    let error = #expect(throws: FeedStoreError.self) { try store.retrieve(for: address) }
    guard case .retrieval(.damaged, _) = error else {
      Issue.record("\(error as Any)")
      return
    }
    #expect(try store.replace(for: address, with: makeFeed()) == .replaced)
    #expect(try store.retrieve(for: address) == makeFeed())
    #expect(asides.all.count == 1)
  }

  @Test func `a truncated file is reported, and renamed by the next save`() throws {
    try store.replace(for: address, with: makeFeed(2000))
    store.close()
    #expect(truncate(path, 3 * 4096) == 0)
    #expect(throws: FeedStoreError.self) { try store.retrieve(for: address) }
    #expect(try store.replace(for: address, with: makeFeed(at: noon + 1)) == .replaced)
    #expect(try store.retrieve(for: address) == makeFeed(at: noon + 1))
  }

  @Test func `stores recover from damage to their open file`() throws {
    let other = SQLiteFeedStore(path: path) { [asides] name in asides.names.withLock { $0.append(name) } }
    try store.replace(for: address, with: makeFeed(2000))
    #expect(try other.retrieve(for: address)?.images.count == 2000)
    try overwrite(path, from: 0, to: nil)
    try overwrite(path + "-wal", from: 0, to: nil)
    for (number, store) in [store, other, store].enumerated() {
      let feed = makeFeed(from: number, at: noon + Double(number + 1))
      #expect(try store.replace(for: address, with: feed) == .replaced)
      #expect(try store.retrieve(for: address) == feed)
    }
    #expect(asides.all.count <= 1)
  }

  @Test func `a feed with a missing pack is reported and repaired without renaming the file`() throws {
    try store.replace(for: address, with: makeFeed(5))
    try store.replace(for: otherAddress, with: makeFeed(2))
    try execute("DELETE FROM pack WHERE feed = 1")
    #expect(throws: FeedStoreError.retrieval(.damaged("0 of 5 images are left"), place: path)) {
      try store.retrieve(for: address)
    }
    #expect(try store.retrieve(for: otherAddress) == makeFeed(2))
    // The row claims the right images, so a comparison with the saved feed must not treat them as saved.
    #expect(try store.replace(for: address, with: makeFeed(5)) == .replaced)
    #expect(try store.retrieve(for: address) == makeFeed(5))
    #expect(asides.all == [])
  }

  @Test(arguments: [true, false])
  func `a star in a feed with a missing pack is refused without renaming the file`(isStarred: Bool) throws {
    try store.replace(for: address, with: makeFeed(5))
    try store.replace(for: otherAddress, with: makeFeed(2))
    try execute("DELETE FROM pack WHERE feed = 1")
    #expect(try !store.setStar(isStarred, makeImage(0).id, of: address, now: noon))
    #expect(asides.all == [])
    #expect(try store.retrieve(for: otherAddress) == makeFeed(2))
    #expect(try store.setStar(true, makeImage(0).id, of: otherAddress, now: noon))
  }

  @Test func `a star in a feed with a missing pack can be removed`() throws {
    try store.replace(for: address, with: makeFeed(5))
    #expect(try store.setStar(true, makeImage(0).id, of: address, now: noon))
    try execute("DELETE FROM pack WHERE feed = 1")
    #expect(try store.setStar(false, makeImage(0).id, of: address, now: noon))
    #expect(try store.stars(of: address) == [])
    #expect(asides.all == [])
  }

  /// A flipped bit in a record's header changes a value's type. A strict table forbids that, but reading does not check
  /// it.
  @Test(arguments: ["timestamp = 'noon'", "images = NULL", "timestamp = NULL"])
  func `a value of the wrong type is reported as damage`(change: String) throws {
    try store.replace(for: address, with: makeFeed(5))
    try force("feed", change)
    #expect(throws: FeedStoreError.self) { try store.retrieve(for: address) }
    #expect(throws: FeedStoreError.self) { try store.summaries() }
    #expect(try store.replace(for: address, with: makeFeed()) == .replaced)
    #expect(try store.retrieve(for: address) == makeFeed())
  }

  @Test(arguments: ["feed SET images = 1 << 40", "pack SET count = 9223372036854775807", "pack SET count = -5"])
  func `a search survives damaged numbers of images`(change: String) throws {
    try store.replace(for: address, with: makeFeed(5))
    #expect(try store.seen(SeenQuery()).images.count == 5)
    try execute("UPDATE \(change)")
    // Items that can't be read are left out.
    #expect(throws: Never.self) { try store.seen(SeenQuery()) }
  }

  @Test(arguments: ["DELETE FROM words_data WHERE id = 10", "UPDATE words_config SET v = 99", "DROP TABLE words_idx"])
  func `a damaged index is built again by a search, and the stars stay`(damage: String) throws {
    func titles(_ words: String) throws -> [String?] {
      try store.seen(SeenQuery(words)).images.map(\.image.description)
    }
    func save(_ titles: [String], at time: Date) throws {
      let images = titles.enumerated().map { FeedImage(id: makeImage($0).id, description: $1, url: makeImage($0).url) }
      try store.replace(for: address, with: CachedFeed(images: FeedImages(images), timestamp: time))
    }
    try save(["Harbour", "Hill"], at: noon)
    #expect(try store.setStar(true, makeImage(0).id, of: address, now: noon))
    #expect(try titles("harbour") == ["Harbour"])
    store.close()
    try execute(damage)
    // The index is up to date, so the damage is found by the query.
    #expect(try titles("harbour") == ["Harbour"])
    store.close()
    try execute(damage)
    // Now it is found by the update of the index.
    try save(["Harbour", "Valley"], at: noon + 1)
    #expect(try titles("valley") == ["Valley"])
    #expect(try titles("harbour") == ["Harbour"])
    #expect(try store.stars(of: address) == [makeImage(0).id])
    #expect(asides.all == [])
  }

  @Test func `a search of a damaged file fails, and leaves renaming it to the next save`() throws {
    try store.replace(for: address, with: makeFeed(5))
    try execute("ALTER TABLE kept RENAME TO lost")
    for _ in 1...2 { #expect(throws: FeedStoreError.self) { try store.seen(SeenQuery("a")) } }
    #expect(asides.all == [])
    #expect(try store.retrieve(for: address) == makeFeed(5))
  }

  @Test func `a search that a new index doesn't help keeps the index, and the file doesn't grow`() throws {
    try store.replace(for: address, with: makeFeed(500))
    #expect(try store.seen(SeenQuery()).images.count == 100)
    try execute("ALTER TABLE star RENAME TO lost")
    let pages = try pageCount()
    for store in [store, SQLiteFeedStore(path: path)] {
      for _ in 1...2 { #expect(throws: FeedStoreError.self) { try store.seen(SeenQuery()) } }
    }
    #expect(try pageCount() == pages)
    try execute("ALTER TABLE lost RENAME TO star")
    #expect(try store.seen(SeenQuery()).images.count == 100)
  }

  @Test func `an index that can't be completed isn't built again and again`() throws {
    for feed in [address, otherAddress] { try store.replace(for: feed, with: makeFeed(5)) }
    #expect(try !store.index(atMost: 1).isComplete)
    try force("history", "address = NULL WHERE id = 2")
    let pages = try pageCount()
    for _ in 1...2 { #expect(throws: FeedStoreError.self) { try store.index(atMost: 1) } }
    #expect(try pageCount() == pages)
  }

  @Test func `a former item that can't be read doesn't hide the others`() throws {
    try store.replace(for: address, with: makeFeed(5))
    try store.replace(for: address, with: makeFeed(0, at: noon + 1))
    try execute("UPDATE kept SET content = x'00' WHERE id IN (SELECT id FROM kept ORDER BY rank DESC, id DESC LIMIT 2)")
    let all = try store.history(of: address, after: nil, limit: 10)
    #expect(all.images.count == 3 && all.next == nil)
    let first = try store.history(of: address, after: nil, limit: 2)
    let second = try store.history(of: address, after: first.next, limit: 2)
    #expect(first.images + second.images == all.images && first.images.count == 2 && second.next == nil)
  }

  @Test func `a feed that can't be listed is found by a deletion of unreadable feeds`() throws {
    try store.replace(for: address, with: makeFeed(5))
    try force("feed", "address = NULL")
    #expect(throws: FeedStoreError.self) { try store.summaries() }
    try store.delete(for: address, if: .unreadable)
    #expect(try store.summaries() == [])
    #expect(asides.all.count == 1)
  }

  @Test func `a file with an altered schema is renamed`() throws {
    try store.replace(for: address, with: makeFeed(5))
    try execute("DROP TABLE pack")
    #expect(throws: FeedStoreError.self) { try store.retrieve(for: address) }
    #expect(try store.replace(for: address, with: makeFeed()) == .replaced)
    #expect(asides.all.count == 1)
  }

  @Test func `a newer version's file is refused and left unchanged`() throws {
    try store.replace(for: address, with: makeFeed())
    try execute("PRAGMA user_version = 99")
    store.close()
    let bytes = try Data(contentsOf: URL(filePath: path))
    #expect(throws: FeedStoreError.retrieval(.newerSchema(99), place: path)) { try store.retrieve(for: address) }
    #expect(throws: FeedStoreError.insertion(.newerSchema(99), place: path)) {
      try store.replace(for: address, with: makeFeed())
    }
    #expect(throws: FeedStoreError.deletion(.newerSchema(99), place: path)) { try store.deleteAll() }
    store.close()
    #expect(try Data(contentsOf: URL(filePath: path)) == bytes)
    #expect(asides.all == [])
  }

  @Test func `another program's database is refused and left unchanged`() throws {
    try execute("CREATE TABLE bookmarks (title TEXT)")
    let bytes = try Data(contentsOf: URL(filePath: path))
    #expect(throws: FeedStoreError.retrieval(.foreign, place: path)) { try store.retrieve(for: address) }
    #expect(throws: FeedStoreError.insertion(.foreign, place: path)) {
      try store.replace(for: address, with: makeFeed())
    }
    #expect(throws: FeedStoreError.deletion(.foreign, place: path)) { try store.delete(for: address) }
    store.close()
    #expect(try Data(contentsOf: URL(filePath: path)) == bytes)
    #expect(try folder.contents == ["feeds.sqlite"])
  }

  @Test func `another program's database keeps its log too`() throws {
    let other = try DatabaseQueue(path: path)
    try other.inDatabase { db in
      try db.execute(
        sql: "PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0; CREATE TABLE bookmarks (title TEXT)")
    }
    // The files of a killed process: its log has not been copied to the database.
    let left = folder.file("left.sqlite")
    for companion in ["", "-wal"] {
      try FileManager.default.copyItem(atPath: path + companion, toPath: left + companion)
    }
    try other.close()
    let log = try Data(contentsOf: URL(filePath: left + "-wal"))
    let store = SQLiteFeedStore(path: left)
    #expect(throws: FeedStoreError.retrieval(.foreign, place: left)) { try store.retrieve(for: address) }
    #expect(throws: FeedStoreError.insertion(.foreign, place: left)) {
      try store.replace(for: address, with: makeFeed())
    }
    store.close()
    #expect(try !log.isEmpty && Data(contentsOf: URL(filePath: left + "-wal")) == log)
  }

  @Test func `a symbolic link is kept, and its target is renamed`() throws {
    let target = folder.file("target")
    try makeDamaged().write(to: URL(filePath: target))
    unlink(path)
    try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: target)
    #expect(try store.replace(for: address, with: makeFeed()) == .replaced)
    #expect(try store.retrieve(for: address) == makeFeed())
    #expect(try #require(asides.all.first).hasPrefix(target + ".corrupt-"))
    #expect(try FileManager.default.destinationOfSymbolicLink(atPath: path) == target)
  }

  /// Makes a cache file of which only the header is intact.
  private func makeDamaged() throws -> Data {
    let maker = SQLiteFeedStore(path: path)
    try maker.replace(for: address, with: makeFeed(from: 100, at: noon + 1_000))
    maker.close()
    store.close()
    try overwrite(path, from: 100, to: nil)
    return try Data(contentsOf: URL(filePath: path))
  }

  /// Changes a table in a way that the schema does not permit.
  private func force(_ table: String, _ change: String) throws {
    try execute(
      """
      PRAGMA writable_schema = ON;
      UPDATE sqlite_schema SET sql = replace(replace(sql, 'STRICT', ''), 'NOT NULL', '') WHERE name = '\(table)';
      PRAGMA writable_schema = RESET;
      """)
    try execute("UPDATE \(table) SET \(change)")
  }

  private func pageCount() throws -> Int? {
    let queue = try DatabaseQueue(path: path)
    defer { try? queue.close() }
    return try queue.read { try Int.fetchOne($0, sql: "PRAGMA page_count") }
  }

  private func execute(_ sql: String) throws {
    let queue = try DatabaseQueue(path: path)
    try queue.writeWithoutTransaction { try $0.execute(sql: sql) }
    try queue.close()
  }

  private func overwrite(_ path: String, from start: UInt64, to end: UInt64?) throws {
    let handle = try FileHandle(forUpdating: URL(filePath: path))
    let end = try end ?? handle.seekToEnd()
    try handle.seek(toOffset: start)
    try handle.write(contentsOf: Data(repeating: 0xA5, count: Int(end - start)))
    try handle.close()
  }
}

private let garbage = Data(String(repeating: "This is a diary and not a database. ", count: 1000).utf8)

/// The names of the damaged files that were renamed.
private final class Asides: Sendable {
  let names = Mutex<[String]>([])
  var all: [String] { names.withLock { $0 } }
}
