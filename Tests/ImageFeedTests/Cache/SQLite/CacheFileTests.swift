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
    let header = try #require(file.header)
    #expect(file.hasLog)
    #expect(!file.isForeign(to: FeedSchema.applicationID, header: header))
    store.close()
    #expect(!file.hasLog)
    #expect(!file.isForeign(to: FeedSchema.applicationID, header: header))
    #expect(file.isForeign(to: FeedSchema.applicationID + 1, header: header))
  }
}
