import Foundation
import GRDB
import ImageFeed
import TestSupport
import Testing

/// The SQLite store with files of every kind at its path.
@Suite(.settled) struct SQLiteFeedStoreFileTests {
  private let folder = TemporaryFolder()

  @Test func `no file is created before the first save`() throws {
    let store = SQLiteFeedStore(path: folder.file("deep/er/feeds.sqlite"))
    #expect(try store.retrieve(for: address) == nil)
    #expect(try store.summaries() == [])
    #expect(try !store.delete(for: address))
    try store.deleteAll()
    #expect(try folder.contents == [])
    try store.replace(for: address, with: makeFeed())
    #expect(try store.retrieve(for: address) == makeFeed())
  }

  @Test func `only the file's owner can read it`() throws {
    let path = folder.file()
    let store = SQLiteFeedStore(path: path)
    try store.replace(for: address, with: makeFeed())
    for name in try folder.contents {
      let attributes = try FileManager.default.attributesOfItem(atPath: folder.file(name))
      #expect(attributes[.posixPermissions] as? Int == 0o600, "\(name)")
    }
  }

  @Test func `closing a store leaves one file with all its data`() throws {
    let path = folder.file()
    let store = SQLiteFeedStore(path: path)
    try store.replace(for: address, with: makeFeed())
    store.close()
    #expect(try folder.contents == ["feeds.sqlite"])
    #expect(try store.retrieve(for: address) == makeFeed())
  }

  @Test(arguments: ["a b", "what?mode=memory", "50%25#x", "file:x", "'quote'", "é👩‍👩‍👧"])
  func `every valid file name works, even with special characters`(name: String) throws {
    let store = SQLiteFeedStore(path: folder.file(name))
    try store.replace(for: address, with: makeFeed())
    store.close()
    #expect(try folder.contents == [name])
  }

  @Test func `an empty file is an empty cache`() throws {
    let path = folder.file()
    try Data().write(to: URL(filePath: path))
    let store = SQLiteFeedStore(path: path)
    #expect(try store.retrieve(for: address) == nil)
    #expect(try !store.delete(for: address))
    try store.replace(for: address, with: makeFeed())
    #expect(try store.retrieve(for: address) == makeFeed())
  }

  @Test func `a save of the same images writes only the timestamp`() throws {
    let path = folder.file()
    let store = SQLiteFeedStore(path: path)
    try store.replace(for: address, with: makeFeed(10_000))
    store.close()
    #expect(try store.replace(for: address, with: makeFeed(10_000, at: noon + 1)) == .renewed)
    // The log has only the last write: its header, and one page with a frame header.
    let log = try FileManager.default.attributesOfItem(atPath: path + "-wal")[.size] as? Int
    #expect(log == 32 + 24 + 4096)
  }

  @Test func `a file removed under an open store is an empty cache, and can be saved again`() throws {
    let path = folder.file()
    let (store, other) = (SQLiteFeedStore(path: path), SQLiteFeedStore(path: path))
    try store.replace(for: address, with: makeFeed())
    #expect(try other.retrieve(for: address) == makeFeed())
    // Remove only the file, as a user might: the companions and the connections remain.
    try FileManager.default.removeItem(atPath: path)
    #expect(try store.retrieve(for: address) == nil)
    try store.replace(for: otherAddress, with: makeFeed(2, from: 10))
    #expect(try other.retrieve(for: address) == nil)
    #expect(try other.retrieve(for: otherAddress) == makeFeed(2, from: 10))
  }

  @Test func `two stores on one file see each other's saves`() throws {
    let path = folder.file()
    let (one, two) = (SQLiteFeedStore(path: path), SQLiteFeedStore(path: path))
    try one.replace(for: address, with: makeFeed())
    #expect(try two.retrieve(for: address) == makeFeed())
    #expect(try two.replace(for: address, with: makeFeed(from: 10, at: noon + 1)) == .replaced)
    #expect(try one.retrieve(for: address) == makeFeed(from: 10, at: noon + 1))
    #expect(try one.delete(for: address))
    #expect(try two.retrieve(for: address) == nil)
  }

  @Test func `a file locked by a writer is reported as busy, and readers aren't affected`() throws {
    let path = folder.file()
    let store = SQLiteFeedStore(path: path, busyTimeout: .milliseconds(20))
    try store.replace(for: address, with: makeFeed())
    var configuration = Configuration()
    configuration.allowsUnsafeTransactions = true
    let other = try DatabaseQueue(path: path, configuration: configuration)
    try other.inDatabase { try $0.execute(sql: "BEGIN IMMEDIATE; DELETE FROM pack; DELETE FROM feed") }
    #expect(throws: FeedStoreError.insertion(.busy, place: path)) {
      try store.replace(for: address, with: makeFeed(at: noon + 1))
    }
    #expect(throws: FeedStoreError.deletion(.busy, place: path)) { try store.delete(for: address) }
    #expect(try store.retrieve(for: address) == makeFeed())
    try other.inDatabase { try $0.execute(sql: "ROLLBACK") }
    #expect(try store.replace(for: address, with: makeFeed(at: noon + 1)) == .renewed)
  }

  @Test func `a folder in place of the file is reported`() throws {
    let store = SQLiteFeedStore(path: folder.path)
    #expect(throws: FeedStoreError.retrieval(.notAFile, place: folder.path)) {
      try store.retrieve(for: address)
    }
    #expect(throws: FeedStoreError.insertion(.notAFile, place: folder.path)) {
      try store.replace(for: address, with: makeFeed())
    }
  }

  @Test func `a pipe or device in place of the file is reported and not opened`() throws {
    let pipe = folder.file("pipe")
    try #require(mkfifo(pipe, 0o600) == 0)
    for path in [pipe, "/dev/null"] {
      let store = SQLiteFeedStore(path: path)
      #expect(throws: FeedStoreError.retrieval(.notAFile, place: path)) { try store.retrieve(for: address) }
      #expect(throws: FeedStoreError.insertion(.notAFile, place: path)) {
        try store.replace(for: address, with: makeFeed())
      }
    }
  }

  @Test func `a file in place of a parent folder is reported`() throws {
    let file = folder.file("plain")
    try Data("text".utf8).write(to: URL(filePath: file))
    let store = SQLiteFeedStore(path: file + "/feeds.sqlite")
    #expect(try store.retrieve(for: address) == nil)
    let error = #expect(throws: FeedStoreError.self) { try store.replace(for: address, with: makeFeed()) }
    guard case .insertion(.inputOutput, _) = error else {
      Issue.record("\(error as Any)")
      return
    }
  }
}
