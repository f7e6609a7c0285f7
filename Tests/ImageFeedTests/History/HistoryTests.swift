import FeedStream
import FeedStreamTesting
import Foundation
import GRDB
import TestSupport
import Testing

@testable import ImageFeed

/// An item of a blog: its number determines its id, its link and its image, unless the arguments do.
func makePost(
  _ number: Int, title: String? = nil, id: Int? = nil, link: Int? = nil, image: Int? = nil, text: String? = nil,
  published: Date? = nil
) -> FeedImage {
  FeedImage(
    id: makeImage(id ?? number).id, description: title ?? "Post \(number)", url: makeImage(image ?? number).url,
    published: published,
    post: .init(
      title: title ?? "Post \(number)", text: text, link: URL(string: "https://example.com/\(link ?? number)")))
}

@Suite(.settled) struct HistoryTests {
  private let folder = TemporaryFolder()

  private func store(keeping policy: HistoryPolicy = HistoryPolicy()) -> SQLiteFeedStore {
    SQLiteFeedStore(path: folder.file(), keeping: policy) { Issue.record("The file was set aside as \($0)") }
  }

  /// Saves a document of these images, `days` after noon.
  private func save(_ images: [FeedImage], after days: Double, in store: SQLiteFeedStore) throws {
    try store.replace(for: address, with: CachedFeed(images: images, timestamp: noon + days * 86_400))
  }

  private func history(_ store: SQLiteFeedStore) throws -> [SeenImage] {
    try store.history(of: address, after: nil, limit: 10_000).images
  }

  private func titles(_ store: SQLiteFeedStore) throws -> [String?] { try history(store).map(\.image.title) }

  @Test func `items that leave the document are kept, with when they were first and last seen`() throws {
    let store = store()
    try save((1...3).map { makePost($0) }, after: 0, in: store)
    try save((2...4).map { makePost($0) }, after: 1, in: store)
    try save((4...6).map { makePost($0) }, after: 2, in: store)
    #expect(try store.retrieve(for: address)?.images.map(\.title) == ["Post 4", "Post 5", "Post 6"])
    let kept = try history(store)
    #expect(kept.map(\.image) == [makePost(2), makePost(3), makePost(1)])
    #expect(kept.map(\.firstSeen) == [noon, noon, noon])
    #expect(kept.map(\.lastSeen) == [noon + 86_400, noon + 86_400, noon])
    #expect(try store.history(of: otherAddress, after: nil, limit: 10).images == [])
  }

  @Test func `an item that leaves after the clock was wrong for a while is kept`() throws {
    let store = store()
    try save([makePost(1), makePost(2)], after: 0, in: store)
    try save([makePost(1), makePost(2)], after: -400, in: store)
    try save([makePost(2)], after: 1, in: store)
    #expect(try titles(store) == ["Post 1"])
    #expect(try history(store).map(\.lastSeen) == [noon])
    // An item that was first seen while the clock was ahead wasn't last seen in the future.
    try save([makePost(2), makePost(3)], after: 400, in: store)
    try save([makePost(2), makePost(3), makePost(4)], after: 2, in: store)
    try save([makePost(2), makePost(4)], after: 3, in: store)
    let three = try #require(history(store).first { $0.image == makePost(3) })
    #expect(try #require(three.lastSeen) <= noon + 3 * 86_400)
  }

  @Test func `items that were last seen while the clock was ahead are the first to be deleted`() throws {
    let store = store(keeping: HistoryPolicy(items: 2))
    try save((1...3).map { makePost($0) }, after: 0, in: store)
    try save((1...3).map { makePost($0) }, after: 400, in: store)
    for day in 1...3 { try save([makePost(3 + day)], after: Double(day), in: store) }
    #expect(try Set(titles(store)) == ["Post 4", "Post 5"])
  }

  @Test func `an item that returns leaves the history, and keeps when it was first seen`() throws {
    let store = store()
    try save([makePost(1), makePost(2)], after: 0, in: store)
    try save([makePost(2)], after: 1, in: store)
    try save([makePost(1), makePost(2)], after: 2, in: store)
    #expect(try titles(store) == [])
    try save([], after: 3, in: store)
    #expect(try history(store).map(\.firstSeen) == [noon, noon])
    #expect(try titles(store) == ["Post 1", "Post 2"])
  }

  @Test func `an edited item is recognized by its id, else by its link, else by its image`() throws {
    let store = store()
    try save([makePost(1), makePost(2), makePost(3)], after: 0, in: store)
    try save([makePost(1, title: "Edited"), makePost(2, id: 20, image: 20), makePost(3)], after: 1, in: store)
    #expect(try titles(store) == [])
    try save([makeImage(7)], after: 2, in: store)
    try save(
      [FeedImage(id: makeImage(8).id, description: "edited", url: makeImage(7).url)], after: 3, in: store)
    #expect(try titles(store) == ["Edited", "Post 2", "Post 3"])
    #expect(try history(store).map(\.firstSeen) == [noon, noon, noon])
    // An item also returns from the history by its link.
    try save([makePost(2, title: "Again", id: 21)], after: 4, in: store)
    #expect(try titles(store) == [nil, "Edited", "Post 3"])
  }

  @Test func `a link or image shared by several items identifies none of them`() throws {
    let store = store()
    try save([makePost(1, link: 0), makePost(2, link: 0)], after: 0, in: store)
    try save([makePost(2, link: 0), makePost(3, link: 0)], after: 1, in: store)
    #expect(try titles(store) == ["Post 1"])
    // All episodes have one cover image, but different links.
    try save([makePost(4, image: 0)], after: 2, in: store)
    try save([makePost(5, image: 0)], after: 3, in: store)
    #expect(try titles(store) == ["Post 4", "Post 3", "Post 2", "Post 1"])
  }

  @Test func `an item whose link becomes that of several items is recognized by its image`() throws {
    let store = store()
    try save([makePost(1, link: 0)], after: 0, in: store)
    #expect(try store.setStar(true, makePost(1).id, of: address, now: noon))
    try save([makePost(2, link: 0), makePost(1, id: 10, link: 0)], after: 1, in: store)
    #expect(try titles(store) == [])
    #expect(try store.stars(of: address) == [makePost(10).id])
  }

  @Test func `in a feed whose items share one link, an item doesn't replace another with the same image`() throws {
    let store = store()
    try save([makePost(1, link: 0, image: 7), makePost(2, link: 0), makePost(3, link: 0)], after: 0, in: store)
    #expect(try store.setStar(true, makePost(1).id, of: address, now: noon))
    try save([makePost(4, link: 0, image: 7), makePost(2, link: 0), makePost(3, link: 0)], after: 1, in: store)
    #expect(try titles(store) == ["Post 1"])
    #expect(try store.stars(of: address) == [makePost(1).id])
  }

  @Test(arguments: [true, false])
  func `in a feed whose items share one link, an item whose id has changed keeps its star`(isDated: Bool) throws {
    let store = store()
    let date = isDated ? noon : nil
    try save([makePost(1, link: 0, published: date), makePost(2, link: 0)], after: 0, in: store)
    #expect(try store.setStar(true, makePost(1).id, of: address, now: noon))
    let new = makePost(1, title: isDated ? "Edited" : nil, id: 10, link: 0, published: date)
    try save([makePost(3, link: 0), new, makePost(2, link: 0)], after: 1, in: store)
    #expect(try titles(store) == [])
    #expect(try store.stars(of: address) == [new.id])
    #expect(try store.items(named: new.url.absoluteString).map(\.firstSeen) == [noon])
  }

  @Test func `in a feed whose items share one link, an item doesn't replace one with another date`() throws {
    let store = store()
    try save([makePost(1, link: 0, published: noon), makePost(2, link: 0)], after: 0, in: store)
    let next = makePost(3, title: "Post 1", link: 0, image: 1, published: noon + 3600)
    try save([next, makePost(2, link: 0)], after: 1, in: store)
    #expect(try history(store).map(\.image.id) == [makePost(1).id])
  }

  @Test func `an item with the same link, but another image and date, is another item`() throws {
    let store = store()
    let days = (1...3).map { makePost($0, link: 0, published: noon + Double($0) * 86_400) }
    try save([days[0]], after: 1, in: store)
    #expect(try store.setStar(true, days[0].id, of: address, now: noon))
    try save([days[1]], after: 2, in: store)
    #expect(try history(store).map(\.image) == [days[0]])
    #expect(try store.stars(of: address) == [days[0].id])
    // Neither does an item replace one in the history.
    try save([], after: 2.5, in: store)
    try store.forgetHistory(of: address)
    try save([days[1]], after: 2.6, in: store)
    #expect(try store.setStar(true, days[1].id, of: address, now: noon))
    try save([], after: 2.7, in: store)
    try save([days[2]], after: 3, in: store)
    #expect(try history(store).map(\.image) == [days[1]])
    #expect(try store.stars(of: address) == [days[1].id])
  }

  @Test(arguments: [(1, noon + 86_400), (2, noon)])
  func `an edited item with the same link has another image or date, but not both`(image: Int, date: Date) throws {
    let store = store()
    try save([makePost(1, published: noon)], after: 0, in: store)
    #expect(try store.setStar(true, makePost(1).id, of: address, now: noon))
    let new = makePost(2, link: 1, image: image, published: date)
    try save([new], after: 1, in: store)
    #expect(try titles(store) == [])
    #expect(try store.stars(of: address) == [new.id])
  }

  @Test func `a renamed item whose new id is in the history is removed from the history`() throws {
    let store = store()
    try save([makePost(1)], after: 0, in: store)
    try save([makePost(2)], after: 1, in: store)
    #expect(try titles(store) == ["Post 1"])
    try save([makePost(2, id: 1)], after: 2, in: store)
    #expect(try titles(store) == [])
    try save([], after: 3, in: store)
    #expect(try titles(store) == ["Post 2"])
    let count = try DatabaseQueue(path: folder.file()).read { try Int.fetchOne($0, sql: "SELECT kept FROM history") }
    #expect(count == 1)
  }

  @Test(.timeLimit(.minutes(1))) func `a link that all items of a long document share is looked up once`() throws {
    let store = store()
    try save([makePost(1)], after: 0, in: store)
    try save([makePost(2)], after: 1, in: store)
    try save((10..<50_010).map { makePost($0, link: 1) }, after: 2, in: store)
    #expect(try titles(store) == ["Post 2", "Post 1"])
  }

  @Test func `the history has the feed's last title and network, even if its items are unchanged`() throws {
    let store = store()
    func save(_ title: String, isPrivate: Bool, after days: Double) throws {
      var builder = FeedImages.Builder(count: 1)
      builder.append(makePost(1))
      (builder.title, builder.isFromPrivateNetwork) = (title, isPrivate)
      let feed = CachedFeed(images: builder.finish(), timestamp: noon + days * 86_400)
      try store.replace(for: address, with: feed)
    }
    try save("Old", isPrivate: true, after: 0)
    try save("New", isPrivate: false, after: 1)
    let seen = try store.seen(SeenQuery()).images
    #expect(seen.map(\.feedTitle) == ["New"] && seen.map(\.isFromPrivateNetwork) == [false])
  }

  @Test func `the items of a public feed don't become private when the feed does`() throws {
    let store = store()
    for (days, number, isPrivate) in [(0.0, 1, false), (1, 2, true), (2, 3, true)] {
      let images = FeedImages([makePost(number)]).marked(isFromPrivateNetwork: isPrivate)
      try store.replace(for: address, with: CachedFeed(images: images, timestamp: noon + days * 86_400))
    }
    #expect(try history(store).map(\.isFromPrivateNetwork) == [false, false])
    #expect(try store.seen(SeenQuery()).images.map(\.isFromPrivateNetwork) == [true, false, false])
  }

  @Test func `history pages have the newest items first`() throws {
    let store = store()
    let posts = (0..<25).map { makePost($0, published: noon - Double($0 % 7) * 1000) }
    try save(posts, after: 0, in: store)
    try save([], after: 1, in: store)
    var (pages, place) = ([[SeenImage]](), SeenPage.Place?.none)
    repeat {
      let page = try store.history(of: address, after: place, limit: 10)
      pages.append(page.images)
      place = page.next
    } while place != nil
    #expect(pages.map(\.count) == [10, 10, 5])
    let dates = pages.flatMap { $0 }.compactMap(\.image.published)
    #expect(dates == dates.sorted(by: >) && Set(pages.flatMap { $0 }.map(\.image.id)).count == 25)
    #expect(pages[0].prefix(4).map(\.image.title) == ["Post 0", "Post 7", "Post 14", "Post 21"])
  }

  @Test func `the policy limits the number of kept items and how long ago they were last seen`() throws {
    let store = store(keeping: HistoryPolicy(items: 3, age: .seconds(10 * 86_400)))
    try save((1...2).map { makePost($0) }, after: 0, in: store)
    try save((3...4).map { makePost($0) }, after: 1, in: store)
    try save((5...6).map { makePost($0) }, after: 2, in: store)
    #expect(try titles(store) == ["Post 3", "Post 4", "Post 1"])
    try save([makePost(7)], after: 11.5, in: store)
    #expect(try titles(store) == ["Post 5", "Post 6"], "those of the first two days are too old")
    let none = self.store(keeping: .none)
    try save([makePost(8)], after: 12, in: none)
    #expect(try titles(none) == [])
  }

  @Test func `a starred item is never deleted, and an edited one keeps its star`() throws {
    let store = store(keeping: .none)
    try save([makePost(1), makePost(2)], after: 0, in: store)
    #expect(try store.setStar(true, makePost(1).id, of: address, now: noon))
    #expect(try !store.setStar(true, makePost(9).id, of: address, now: noon))
    #expect(try store.stars(of: address) == [makePost(1).id])
    try save([makePost(1, id: 10, image: 10), makePost(2)], after: 1, in: store)
    #expect(try store.stars(of: address) == [makePost(10).id])
    try save([], after: 1000, in: store)
    #expect(try titles(store) == ["Post 1"])
    #expect(try history(store).map(\.isStarred) == [true])
    #expect(try store.historySummary() == HistorySummary(kept: 1, starred: 1))
    #expect(try store.setStar(false, makePost(10).id, of: address, now: noon))
    try save([makePost(3)], after: 1001, in: store)
    #expect(try titles(store) == [])
  }

  @Test func `an expired or cleared feed's items stay in the history until forgotten`() throws {
    let store = store()
    try save([makePost(1), makePost(2)], after: 0, in: store)
    #expect(try store.delete(for: address, if: .timestamp(noon)))
    #expect(try store.retrieve(for: address) == nil)
    #expect(try titles(store) == ["Post 1", "Post 2"])
    try save([makePost(2), makePost(3)], after: 1, in: store)
    #expect(try titles(store) == ["Post 1"])
    try store.changeShownImages(for: address) { $0 = ShownImages([makePost(3)]) }
    try store.deleteAll()
    #expect(try titles(store).count == 3 && store.shownImages(for: address) != nil)
    try store.forgetHistory(of: otherAddress)
    #expect(try titles(store).count == 3)
    try store.forgetHistory(of: address)
    #expect(try titles(store) == [] && store.shownImages(for: address) == nil)
    try save([makePost(1)], after: 2, in: store)
    try save([makePost(2)], after: 3, in: store)
    try store.forgetHistory(of: nil)
    #expect(try titles(store) == [] && store.retrieve(for: address)?.images.count == 1)
    #expect(try store.seen(SeenQuery()).images.map(\.image.title) == ["Post 2"])
  }

  @Test(arguments: [400.0, -400]) func `a feed that is deleted after the clock was wrong keeps its items`(days: Double)
    throws
  {
    let store = store()
    try save([makePost(1), makePost(2)], after: 0, in: store)
    try save([makePost(2)], after: 1, in: store)
    // A renewal with a wrong clock.
    try save([makePost(2)], after: days, in: store)
    #expect(try store.delete(for: address, if: .timestamp(noon + days * 86_400)))
    #expect(try Set(titles(store)) == ["Post 1", "Post 2"])
    // Only a save knows the time.
    try save([makePost(3)], after: 2, in: store)
    #expect(try Set(titles(store)) == ["Post 1", "Post 2"])
  }

  @Test func `a failing save keeps the history and none of the new document`() throws {
    let store = store()
    try save([makePost(1)], after: 0, in: store)
    try save([makePost(2)], after: 1, in: store)
    store.close()
    let queue = try DatabaseQueue(path: folder.file())
    try queue.write {
      try $0.execute(sql: "CREATE TRIGGER no BEFORE INSERT ON kept BEGIN SELECT RAISE(ABORT, 'as told'); END")
    }
    try queue.close()
    #expect(throws: FeedStoreError.self) { try save([makePost(3)], after: 2, in: store) }
    #expect(try titles(store) == ["Post 1"])
    #expect(try store.retrieve(for: address)?.images.map(\.title) == ["Post 2"])
  }

  @Test func `saving a feed writes as many pages with 10,000 kept items as with ten`() throws {
    func pages(kept: Int) throws -> Int {
      let path = folder.file("\(kept).db")
      let store = SQLiteFeedStore(path: path, keeping: HistoryPolicy(items: 20_000))
      try save((0..<kept).map { makePost(1000 + $0) }, after: 0, in: store)
      try save((0..<20).map { makePost($0) }, after: 1, in: store)
      // The next save begins a new log.
      store.close()
      try save([makePost(900)] + (0..<19).map { makePost($0) }, after: 2, in: store)
      #expect(try store.historySummary().kept == kept + 1)
      // The log has a header, and a frame header for each page.
      let log = try Data(contentsOf: URL(filePath: path + "-wal")).count
      return (log - 32) / (4096 + 24)
    }
    let (few, many) = (try pages(kept: 10), try pages(kept: 10_000))
    #expect(few > 2 && many <= few + 6, "\(few) and \(many) pages")
  }

  @Test func `history pages are read on demand, in virtual time`() throws {
    let time = VirtualTimeScheduler()
    let store = store()
    try save((0..<5).map { makePost($0) }, after: 0, in: store)
    try save([], after: 1, in: store)
    let cache = FeedCache(store: store, on: time)
    let history = FeedHistory(store: store, cache: cache)
    let recorder = history.results(of: SeenQuery(feeds: [address], limit: 2)).record(on: time, demand: .max(1))
    time.run()
    #expect(recorder.values.map(\.images.count) == [2] && recorder.completion == nil)
    recorder.request(.max(5))
    time.run()
    #expect(recorder.values.map(\.images.count) == [2, 2, 1])
    #expect(recorder.completion == .finished)
    let starring = history.setStar(true, makePost(3).id, of: address).record(on: time)
    time.run()
    #expect(try starring.values == [true] && store.stars(of: address) == [makePost(3).id])
  }
}
