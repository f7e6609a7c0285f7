import FeedStream
import FeedStreamTesting
import Foundation
import TestSupport
import Testing

@testable import ImageFeed

/// A store whose feeds are damaged, but not its records of shown images.
private struct StoreOfDamagedFeeds: ShownImagesStore {
  let base: InMemoryFeedStore

  func retrieve(for address: URL) throws(FeedStoreError) -> CachedFeed? {
    throw FeedStoreError(.retrieval, .damaged("a row"), place: "memory")
  }

  func replace(for address: URL, with feed: CachedFeed, now: Date) throws(FeedStoreError) -> FeedReplacement {
    try base.replace(for: address, with: feed, now: now)
  }

  func delete(for address: URL, if condition: FeedDeletionCondition) throws(FeedStoreError) -> Bool {
    try base.delete(for: address, if: condition)
  }

  func summaries() throws(FeedStoreError) -> [CachedFeedSummary] { try base.summaries() }

  func deleteAll() throws(FeedStoreError) { try base.deleteAll() }

  func shownImages(for address: URL) throws(FeedStoreError) -> ShownImages? { try base.shownImages(for: address) }

  func changeShownImages(for address: URL, _ change: (inout ShownImages?) -> Void) throws(FeedStoreError) {
    try base.changeShownImages(for: address, change)
  }
}

@Suite(.settled) struct NewImagesTests {
  private let time = VirtualTimeScheduler()
  private let store = InMemoryFeedStore()

  /// The new images that a new finder finds in reports; if `marks` is true, each report is marked as shown before the
  /// next.
  private func found(_ feeds: [CachedFeed], marks: Bool = true, errors: Int = 0) -> [[Int]] {
    var (positions, failures): ([[Int]], Int) = ([], 0)
    let finder = NewImagesFinder(store: store, cache: FeedCache(store: store, on: time)) { _ in failures += 1 }
    let reports = feeds.map { FeedReport(address: address, result: .success(Feed(images: $0.images, source: .remote))) }
    let subscription = finder.reports(of: [address]) { reports.publisher }.sink { new in
      positions.append(new.positions)
      if marks { finder.markShown(new) }
    }
    time.run()
    subscription.cancel()
    #expect(failures == errors)
    return positions
  }

  @Test func `all images of an unknown feed are new, once`() {
    #expect(found([makeFeed(2), makeFeed(2), makeFeed(4)]) == [[0, 1], [], [2, 3]])
  }

  @Test func `after a restart, only images not shown before are new`() {
    #expect(found([makeFeed(2)]) == [[0, 1]])
    #expect(found([makeFeed(3)]) == [[2]])
    #expect(found([makeFeed(3)]) == [[]])
  }

  @Test func `images saved before the finder's first report aren't new`() throws {
    try store.replace(for: address, with: makeFeed(2))
    #expect(found([makeFeed(3)]) == [[2]])
  }

  @Test(arguments: [nil, 0, 1] as [Int?])
  func `a feed is at its first load only if it was never saved, even without images or marks`(saved: Int?) throws {
    // This finder records that no images were shown, and ends before it can mark any.
    #expect(found([]) == [])
    if let saved { try store.replace(for: address, with: makeFeed(saved)) }
    let finder = NewImagesFinder(store: store, cache: FeedCache(store: store, on: time)) { _ in }
    let report = FeedReport(address: address, result: .success(Feed(images: makeFeed(1).images, source: .remote)))
    let new = finder.reports(of: [address]) { Just(report) }.record(on: time)
    time.run()
    #expect(new.values.map(\.isFirst) == [saved == nil])
    #expect(new.values.map(\.positions) == [[0]])
  }

  @Test func `images that weren't shown are new if the record can be read, even if the saved feed is damaged`() {
    // This finder records that no images were shown, and ends before it can mark any.
    #expect(found([]) == [])
    var failures = 0
    let finder = NewImagesFinder(
      store: StoreOfDamagedFeeds(base: store), cache: FeedCache(store: store, on: time)
    ) { _ in failures += 1 }
    let report = FeedReport(address: address, result: .success(Feed(images: makeFeed(2).images, source: .remote)))
    let new = finder.reports(of: [address]) { Just(report) }.record(on: time)
    time.run()
    #expect(new.values.map(\.positions) == [[0, 1]] && new.values.map(\.isFirst) == [false] && failures == 1)
  }

  @Test func `images found and saved, but not shown, are new again`() throws {
    #expect(found([makeFeed(2)], marks: false) == [[0, 1]])
    try store.replace(for: address, with: makeFeed(2))
    #expect(found([makeFeed(2)]) == [[0, 1]])
  }

  @Test func `a single shown image isn't new, and the others are`() throws {
    let finder = NewImagesFinder(store: store, cache: FeedCache(store: store, on: time)) { _ in }
    let report = FeedReport(address: address, result: .success(Feed(images: makeFeed(3).images, source: .remote)))
    let subscription = finder.reports(of: [address]) { Just(report) }.sink { _ in }
    time.run()
    finder.markShown(makeImage(1).id, of: address)
    time.run()
    subscription.cancel()
    #expect(found([makeFeed(3)]) == [[0, 2]])
  }

  @Test func `marks that another process adds to the record are kept`() throws {
    let finder = NewImagesFinder(store: store, cache: FeedCache(store: store, on: time)) { _ in }
    let report = FeedReport(address: address, result: .success(Feed(images: makeFeed(3).images, source: .remote)))
    let subscription = finder.reports(of: [address]) { Just(report) }.sink { _ in }
    time.run()
    try store.changeShownImages(for: address) { $0?.add(makeImage(1).id) }
    finder.markShown(makeImage(2).id, of: address)
    time.run()
    subscription.cancel()
    #expect(try store.shownImages(for: address)?.new(in: makeFeed(4).images) == [0, 3])
  }

  @Test func `an item that disappears and returns isn't new`() {
    #expect(found([makeFeed(3), makeFeed(1), makeFeed(3)]) == [[0, 1, 2], [], []])
    #expect(found([makeFeed(1)]) == [[]])
    #expect(found([makeFeed(3)]) == [[]])
  }

  @Test func `a repeated id counts once`() {
    let twice = CachedFeed(images: [makeImage(1), makeImage(1)], timestamp: noon)
    #expect(found([twice]) == [[0]])
  }

  @Test func `showing a feed marks its images only if a finder has looked for new ones`() throws {
    let finder = NewImagesFinder(store: store, cache: FeedCache(store: store, on: time)) { _ in }
    finder.note(makeFeed(3).images, of: address)
    time.run()
    #expect(try store.shownImages(for: address) == nil)
    #expect(found([makeFeed(1)]) == [[0]])
    finder.note(makeFeed(3).images, of: address)
    time.run()
    #expect(found([makeFeed(4)]) == [[3]])
  }

  @Test func `while the store can't be read, no image is new until the feed is known`() throws {
    let broken = InMemoryFeedStore { _ in .diskFull }
    var failures = 0
    let finder = NewImagesFinder(store: broken, cache: FeedCache(store: broken, on: time)) { _ in failures += 1 }
    let reports = [makeFeed(2), makeFeed(3)].map {
      FeedReport(address: address, result: .success(Feed(images: $0.images, source: .remote)))
    }
    var positions: [[Int]] = []
    let subscription = finder.reports(of: [address]) { reports.publisher }.sink { positions.append($0.positions) }
    time.run()
    subscription.cancel()
    #expect(positions == [[], [2]])
    #expect(failures == 1)
  }

  @Test func `shown ids are limited to the feed's and ten thousand others`() {
    var shown = ShownImages()
    for start in 0..<12 { shown.add(FeedImages((0..<1000).map { makeImage(start * 1000 + $0) })) }
    #expect(shown.ids.count == 11_000)
    #expect(shown.new(in: FeedImages([makeImage(0), makeImage(1000), makeImage(11_999)])) == [0])
  }

  @Test func `the file keeps shown ids even if the feed is deleted, until they are forgotten`() throws {
    let folder = TemporaryFolder()
    let store = SQLiteFeedStore(path: folder.file())
    let numbered = FeedImage(
      id: .init(UUID(), number: 7), description: nil, location: nil, address: makeImage(1).address)
    let shown = ShownImages(FeedImages([makeImage(1), numbered]))
    #expect(try store.shownImages(for: address) == nil)
    try store.changeShownImages(for: address) { $0 = shown }
    try store.replace(for: address, with: makeFeed())
    #expect(try store.delete(for: address, if: .timestamp(noon)))
    let other = SQLiteFeedStore(path: store.path)
    #expect(try other.shownImages(for: address) == shown)
    try other.changeShownImages(for: address) { $0?.add(makeImage(2).id) }
    try store.changeShownImages(for: address) { $0?.add(makeImage(3).id) }
    #expect(try other.shownImages(for: address)?.new(in: makeFeed(5).images) == [0, 4])
    try store.changeShownImages(for: address) { $0 = nil }
    #expect(try store.shownImages(for: address) == nil)
    try store.changeShownImages(for: address) { $0 = shown }
    try store.replace(for: address, with: makeFeed())
    #expect(try store.delete(for: address))
    #expect(try store.shownImages(for: address) == shown)
    try store.forgetHistory(of: address)
    #expect(try store.shownImages(for: address) == nil)
  }

  @Test func `the file keeps titles and dates`() throws {
    let folder = TemporaryFolder()
    let store = SQLiteFeedStore(path: folder.file())
    var builder = FeedImages.Builder(count: 1)
    builder.title = "A feed"
    builder.append(FeedImage(id: UUID(), url: URL(string: "http://a/")!, published: noon + 0.5))
    try store.replace(for: address, with: CachedFeed(images: builder.finish(), timestamp: noon))
    let saved = try #require(try store.retrieve(for: address))
    #expect(saved.images.title == "A feed")
    #expect(saved.images[0].published == noon)
    let undated = FeedImage(id: saved.images[0].id, url: saved.images[0].url)
    #expect(FeedImages([undated]) != saved.images)
    #expect(try store.replace(for: address, with: CachedFeed(images: [undated], timestamp: noon + 1)) == .replaced)
  }
}
