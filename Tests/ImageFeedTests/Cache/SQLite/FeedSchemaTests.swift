import Foundation
import GRDB
import TestSupport
import Testing

@testable import ImageFeed

/// A cache file whose tables have another version.
@Suite(.settled) struct FeedSchemaTests {
  private let folder = TemporaryFolder()
  private var path: String { folder.file() }

  private func check(_ version: Int, refusedAs cause: FeedStoreError.Cause, saying text: String) throws {
    let store = SQLiteFeedStore(path: path) { Issue.record("The file was set aside as \($0)") }
    try store.replace(for: address, with: makeFeed())
    store.close()
    let queue = try DatabaseQueue(path: path)
    try queue.writeWithoutTransaction { try $0.execute(sql: "PRAGMA user_version = \(version)") }
    try queue.close()
    let before = try Data(contentsOf: URL(filePath: path))
    #expect(throws: FeedStoreError.retrieval(cause, place: path)) { try store.retrieve(for: address) }
    #expect(throws: FeedStoreError.insertion(cause, place: path)) { try store.replace(for: address, with: makeFeed()) }
    #expect(throws: FeedStoreError.deletion(cause, place: path)) { try store.deleteAll() }
    #expect("\(cause)".contains(text))
    store.close()
    #expect(try Data(contentsOf: URL(filePath: path)) == before)
  }

  @Test func `a newer version's file is refused and left unchanged, with advice`() throws {
    let version = FeedSchema.version + 1
    try check(version, refusedAs: .newerSchema(version), saying: "Update this program")
  }

  @Test(arguments: [1, FeedSchema.version - 1])
  func `an older version's file is refused and left unchanged, with advice`(_ version: Int) throws {
    try check(version, refusedAs: .olderSchema(version), saying: "Move the file elsewhere")
  }

  @Test func `every table is strict`() throws {
    let strict = try DatabaseQueue().writeWithoutTransaction { db in
      try FeedSchema.kind.prepare(db)
      return try Row.fetchAll(db, sql: "PRAGMA table_list")
        .filter { !($0["name"] as String).hasPrefix("sqlite_") }
        .map { $0["strict"] as Int }
    }
    #expect(strict.count == 8 && strict.allSatisfy { $0 == 1 })
  }
}
