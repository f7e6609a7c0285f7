import Foundation
import TestSupport
import Testing

@testable import ImageFeed

/// The identification of a cache's file while another process uses it.
@Suite(.settled) struct CacheFileTests {
  private let folder = TemporaryFolder()

  @Test func `a cache file isn't foreign while its log is copied into it during the check`() throws {
    let store = SQLiteFeedStore(path: folder.file())
    _ = try store.replace(for: address, with: makeFeed(), now: noon)
    let file = CacheFile(path: store.path)
    let header = [UInt8](try Data(contentsOf: URL(filePath: store.path)).prefix(72))
    #expect(file.hasLog)
    #expect(!file.isForeign(to: FeedSchema.applicationID, header: header))
    store.close()
    #expect(!file.hasLog)
    #expect(!file.isForeign(to: FeedSchema.applicationID, header: header))
    #expect(file.isForeign(to: FeedSchema.applicationID + 1, header: header))
  }

  @Test func `a file isn't read while it is open in this process, and is checked again after it is closed`() throws {
    let store = SQLiteFeedStore(path: folder.file())
    _ = try store.replace(for: address, with: makeFeed(), now: noon)
    let file = CacheFile(path: store.path)
    var reads = 0
    _ = OpenFile.unlessOpen(file) { reads += 1 }
    #expect(reads == 0)
    store.close()
    _ = OpenFile.unlessOpen(file) { reads += 1 }
    #expect(reads == 1)
    try Data("another program's file".utf8).write(to: URL(filePath: store.path))
    #expect(file.isForeign(to: FeedSchema.applicationID))
  }

  @Test func `a new file that gets the inode of a removed one isn't taken for it, although its entry is still there`()
    throws
  {
    let file = CacheFile(path: folder.file())
    try file.create()
    let removed = try #require(file.identity)
    let entry = try OpenFile.opening(file, removed, applicationID: 1)
    // The system counts a file's time in ticks of some milliseconds.
    usleep(20_000)
    // Which inode the next file gets is up to the file system; on most, it is the one that became free.
    var present = removed
    for _ in 0..<20 {
      unlink(file.path)
      try file.create()
      present = try #require(file.identity)
      if present.isSameFile(as: removed) { break }
    }
    var reads = 0
    _ = OpenFile.unlessOpen(file) { reads += 1 }
    #expect(reads == 1)
    #expect(throws: Never.self) { try OpenFile.opening(file, present, applicationID: 2) }
    withExtendedLifetime(entry) {}
  }
}
