import FeedStream
import FeedStreamTesting
import Foundation
import GRDB
import TestSupport
import Testing

@testable import ImageFeed

@Suite(.settled) struct SearchTests {
  private let folder = TemporaryFolder()
  private let store: SQLiteFeedStore

  init() throws {
    store = SQLiteFeedStore(path: folder.file())
    try save(
      [
        makePost(1, title: "Harbour at dawn", text: "Boats and a café"),
        makePost(2, title: "The harbours", text: "More boats", published: noon + 10),
        makePost(3, title: "Mountain", published: noon + 20),
      ])
    try save([makePost(4, title: "Harbour seals")], of: otherAddress, after: -1)
  }

  private func save(_ images: [FeedImage], of feed: URL = address, after days: Double = 0) throws {
    try store.replace(for: feed, with: CachedFeed(images: images, timestamp: noon + days * 86_400))
  }

  private func titles(_ query: SeenQuery) throws -> [String] { try store.seen(query).images.compactMap(\.image.title) }

  @Test func `search finds whole words in titles, texts and alt texts, in any order, ignoring accents`() throws {
    #expect(try titles(SeenQuery("harbour")) == ["Harbour at dawn", "Harbour seals"])
    #expect(try titles(SeenQuery("HARBOUR dawn")) == ["Harbour at dawn"])
    #expect(try titles(SeenQuery("boats")) == ["The harbours", "Harbour at dawn"])
    #expect(try titles(SeenQuery("cafe")) == ["Harbour at dawn"])
    #expect(try titles(SeenQuery("location")) == [])
    let image = FeedImage(id: makeImage(9).id, url: makeImage(9).url, post: .init(title: "x", alt: "a red fox"))
    try save([image], of: otherAddress, after: 1)
    #expect(try titles(SeenQuery("fox red")) == ["x"])
  }

  @Test func `search finds the beginning of a word with *, and the last word while it is typed`() throws {
    #expect(try titles(SeenQuery("harb*")) == ["The harbours", "Harbour at dawn", "Harbour seals"])
    #expect(try titles(SeenQuery("boats h", isTyping: true)) == ["The harbours", "Harbour at dawn"])
    #expect(try titles(SeenQuery("h boats", isTyping: true)) == [])
  }

  @Test(arguments: [
    "\"", "?!", "*", "harbour OR", "title:harbour", "NEAR(a b)", "a\0b", "-dusk", "(((", "'; DROP TABLE kept",
    "a\"\u{308}b", "x\"\u{FE0F}", "a\"\u{308} OR harbour\"\u{308}",
  ])
  func `query syntax in a search is read as words`(text: String) throws {
    #expect(try titles(SeenQuery(text)) == [])
  }

  @Test func `an empty search finds everything, newest first, page by page`() throws {
    #expect(try titles(SeenQuery()) == ["Mountain", "The harbours", "Harbour at dawn", "Harbour seals"])
    var query = SeenQuery(limit: 3)
    let first = try store.seen(query)
    #expect(first.next != nil)
    query.after = first.next
    let second = try store.seen(query)
    #expect(first.images.count == 3 && second.images.map(\.image.title) == ["Harbour seals"] && second.next == nil)
    #expect(try titles(SeenQuery(feeds: [otherAddress])) == ["Harbour seals"])
    #expect(try titles(SeenQuery("harbour", feeds: [address])) == ["Harbour at dawn"])
    #expect(try titles(SeenQuery(feeds: [])) == [])
  }

  @Test func `search finds changed items by their new text, and former items with their dates`() throws {
    #expect(try titles(SeenQuery("mountain")) == ["Mountain"])
    try save([makePost(3, title: "A hill", published: noon + 20), makePost(5, title: "Valley")], after: 1)
    #expect(try titles(SeenQuery("mountain")) == [])
    #expect(try titles(SeenQuery("hill")) == ["A hill"])
    let kept = try store.seen(SeenQuery("dawn")).images
    #expect(kept.map(\.lastSeen) == [noon] && kept.map(\.firstSeen) == [noon] && kept.map(\.address) == [address])
    #expect(try store.seen(SeenQuery("valley")).images.map(\.lastSeen) == [nil])
    #expect(try store.seen(SeenQuery("valley")).images.map(\.firstSeen) == [noon + 86_400])
    try store.delete(for: otherAddress)
    #expect(try store.seen(SeenQuery("seals")).images.map(\.lastSeen) == [noon - 86_400])
    try store.forgetHistory(of: otherAddress)
    #expect(try titles(SeenQuery("seals")) == [])
  }

  @Test func `search can be limited to starred items`() throws {
    #expect(try store.setStar(true, makePost(2).id, of: address, now: noon))
    #expect(try titles(SeenQuery(isStarred: true)) == ["The harbours"])
    #expect(try store.seen(SeenQuery("boats")).images.map(\.isStarred) == [true, false])
    #expect(try titles(SeenQuery("seals", isStarred: true)) == [])
  }

  @Test func `items with the same date keep their feed's order, even across packs`() throws {
    try save((0..<2000).map { makePost($0, title: "Number \($0)", text: String(repeating: "x", count: 100)) }, after: 2)
    let all = try titles(SeenQuery("number", limit: 2000))
    #expect(all.count == 2000)
    let new = (0..<2000).filter { ![1, 2, 3].contains($0) }.map { "Number \($0)" }
    #expect(all.prefix(1997).elementsEqual(new))
  }

  @Test func `the index is built feed by feed, and building can be resumed`() throws {
    #expect(try store.index(atMost: 0) == IndexProgress(indexed: 0, total: 4))
    #expect(try store.index(atMost: 1) == IndexProgress(indexed: 3, total: 4))
    #expect(try store.index(atMost: 1).isComplete)
    #expect(try store.index(atMost: 1) == IndexProgress(indexed: 4, total: 4))
    try save([], after: 3)
    #expect(try !store.index(atMost: 0).isComplete)
    #expect(try store.index(atMost: 1_000) == IndexProgress(indexed: 4, total: 4))
    #expect(try titles(SeenQuery("mountain")) == ["Mountain"])
  }

  @Test func `a search waits for the index, and reports its progress`() throws {
    let time = VirtualTimeScheduler()
    let history = FeedHistory(store: store, cache: FeedCache(store: store, on: time))
    for number in 10..<30 {
      let feed = try #require(URL(string: "https://example.com/\(number)"))
      try save((0..<300).map { makePost(number * 1_000 + $0, title: "Cloud \($0)") }, of: feed)
    }
    var (progress, found): ([IndexProgress], [SeenPage]) = ([], [])
    func ask(_ words: String) -> AnyCancellable {
      history.results(of: SeenQuery(words)) { progress.append($0) }.prefix(1)
        .sink(receiveCompletion: { _ in }, receiveValue: { found.append($0) })
    }
    let first = ask("cloud 7")
    time.advance(by: .seconds(1))
    #expect(found.map(\.images.count) == [20])
    #expect(progress.first == IndexProgress(indexed: 0, total: 6_004) && progress.count > 2)
    #expect(progress.map(\.indexed) == progress.map(\.indexed).sorted() && progress.allSatisfy { !$0.isComplete })
    progress = []
    let second = ask("mountain")
    time.advance(by: .seconds(1))
    #expect(found.last?.images.count == 1 && progress == [])
    withExtendedLifetime((first, second)) {}
  }

  @Test func `an item with an unreadable id doesn't hide older ones`() throws {
    #expect(try titles(SeenQuery(limit: 1)) == ["Mountain"])
    let queue = try DatabaseQueue(path: folder.file())
    try queue.writeWithoutTransaction {
      try $0.execute(sql: "UPDATE found SET item = x'00' WHERE id = (SELECT max(id) FROM found)")
    }
    try queue.close()
    let page = try store.seen(SeenQuery(limit: 1))
    #expect(page.images.map(\.image.title) == ["The harbours"])
    let next = try #require(page.next)
    let older = try store.seen(SeenQuery(limit: 5, after: next))
    #expect(older.images.map(\.image.title) == ["Harbour at dawn", "Harbour seals"])
  }

  @Test func `items that can't be read don't hide older ones`() throws {
    try save((10..<15).map { makePost($0, title: "Unreadable", published: noon + 100) }, after: 1)
    #expect(try titles(SeenQuery(limit: 1)) == ["Unreadable"])
    let queue = try DatabaseQueue(path: folder.file())
    try queue.writeWithoutTransaction {
      let feed = "(SELECT id FROM feed WHERE address = ?)"
      try $0.execute(sql: "DELETE FROM pack WHERE feed = \(feed)", arguments: [address.absoluteString])
    }
    try queue.close()
    #expect(try titles(SeenQuery(limit: 1)) == ["Mountain"])
    let time = VirtualTimeScheduler()
    let history = FeedHistory(store: store, cache: FeedCache(store: store, on: time))
    let recorder = history.results(of: SeenQuery(limit: 2)).record(on: time)
    time.run()
    let found = recorder.values.map { $0.images.map(\.image.title) }
    #expect(found == [["Mountain"], ["The harbours", "Harbour at dawn"], ["Harbour seals"]])
    #expect(recorder.completion == .finished)
  }

  @Test func `a missing or empty file has no items`() throws {
    #expect(try SQLiteFeedStore(path: folder.file("none.db")).index(atMost: 1).isComplete)
    let none = SQLiteFeedStore(path: folder.file("none.db"))
    #expect(try none.seen(SeenQuery("a")).images == [] && none.historySummary() == HistorySummary())
    #expect(try !none.setStar(true, makePost(1).id, of: address, now: noon))
    try none.forgetHistory(of: nil)
    #expect(!FileManager.default.fileExists(atPath: folder.file("none.db")))
  }

  @Test func `the largest limit finds everything`() throws {
    #expect(try titles(SeenQuery("harbour", limit: .max)) == ["Harbour at dawn", "Harbour seals"])
    try save([], after: 3)
    #expect(try store.history(of: address, after: nil, limit: .max).images.count == 3)
  }

  @Test func `ids of removed items are used again, so that all items of one second fit into the index`() throws {
    #expect(try titles(SeenQuery("mountain")) == ["Mountain"])
    // The highest id of this second is taken.
    let time = noon + 30
    let last = (Int64(time.timeIntervalSince1970) + 1) << 20 - 1
    let queue = try DatabaseQueue(path: folder.file())
    try queue.writeWithoutTransaction {
      try $0.execute(sql: "UPDATE found SET id = ? WHERE place = 2", arguments: [last])
    }
    try queue.close()
    try save(
      [
        makePost(5, title: "Valley 5", published: time), makePost(6, title: "Valley 6", published: time),
        makePost(7, title: "Meadow", published: noon + 40),
      ], of: otherAddress, after: 1)
    #expect(try titles(SeenQuery("meadow")) == ["Meadow"])
    #expect(try titles(SeenQuery("valley")) == ["Valley 5", "Valley 6"])
  }

  @Test func `items whose ids change leave their places in the index to others`() throws {
    let time = noon + 30
    func valleys(_ ids: ClosedRange<Int>) -> [FeedImage] {
      zip(5...6, ids).map { makePost($0, title: "Valley \($0)", id: $1, published: time) }
    }
    try save(valleys(5...6), of: otherAddress, after: 1)
    #expect(try titles(SeenQuery("valley")) == ["Valley 5", "Valley 6"])
    func last() throws -> Int64? {
      try DatabaseQueue(path: folder.file()).read { try Int64.fetchOne($0, sql: "SELECT max(id) FROM found") }
    }
    let first = try last()
    for day in 2...4 {
      try save(valleys((10 * day)...(10 * day + 1)), of: otherAddress, after: Double(day))
      #expect(try titles(SeenQuery("valley")) == ["Valley 5", "Valley 6"])
    }
    #expect(try last() == first)
  }

  @Test func `an edited item is found by its new text, even if no more items of its second fit into the index`() throws
  {
    let time = noon + 30
    let first = makePost(5, title: "Valley", published: time)
    try save([first, makePost(6, title: "Meadow", published: time)], of: otherAddress, after: 1)
    #expect(try titles(SeenQuery("meadow")) == ["Meadow"])
    let last = (Int64(time.timeIntervalSince1970) + 1) << 20 - 1
    let queue = try DatabaseQueue(path: folder.file())
    try queue.writeWithoutTransaction {
      try $0.execute(
        sql: "UPDATE found SET id = ? WHERE item = ?", arguments: [last, Data(first.id.stored)])
    }
    try queue.close()
    try save([first, makePost(6, title: "Glacier", published: time)], of: otherAddress, after: 2)
    #expect(try titles(SeenQuery("glacier")) == ["Glacier"])
    #expect(try titles(SeenQuery("meadow")) == [])
  }
}
