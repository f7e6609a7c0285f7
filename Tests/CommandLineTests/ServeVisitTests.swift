import FeedStream
import FeedStreamTesting
import Foundation
import ImageFeed
import TestSupport
import Testing

@testable import feed

/// Visits to the page of `feed serve`, which read the marks of new and starred items, in virtual time.
@Suite(.settled) struct ServeVisitTests {
  private let feeds = [URL(string: "http://a.example/1")!, URL(string: "http://a.example/2")!]
  private let now = Date(timeIntervalSince1970: 1_760_000_000)

  private func image(of feed: URL) -> FeedImage {
    FeedImage(id: FeedImage.ID(name: "1", in: feed), url: feed.appendingPathComponent("1.gif"))
  }

  /// A gallery of two feeds with one image each.
  private func gallery(on time: VirtualTimeScheduler) -> Gallery {
    let names = feeds.map { Gallery.Name(address: $0, title: nil) }
    let gallery = Gallery(names, every: .seconds(60), on: time, now: { now })
    for index in feeds.indices {
      gallery.put(FeedImages([image(of: feeds[index])]), of: index, at: now, .server)
    }
    return gallery
  }

  @Test func `a request that is cancelled doesn't take away the marks of any feed`() async throws {
    try await withFolder { folder in
      try withVirtualTime { time in
        let store = SQLiteFeedStore(path: folder.appendingPathComponent("feeds.db").path)
        for feed in feeds {
          let saved = CachedFeed(images: FeedImages([image(of: feed)]), timestamp: now)
          _ = try store.replace(for: feed, with: saved, now: now)
          #expect(try store.setStar(true, image(of: feed).id, of: feed, now: now))
        }
        let gallery = gallery(on: time)
        let history = GalleryHistory(
          FeedHistory(store: store, cache: FeedCache(store: store, on: time)), of: gallery, now: { now }
        ) { Issue.record($0) }
        history.visit().sink { _ in }.cancel()
        var isDone = false
        let request = history.visit().sink { _ in isDone = true }
        #expect(!isDone, "a request that comes during a visit waits for the marks")
        time.advance(by: .seconds(1))
        #expect(isDone && gallery.entries.count == 2 && gallery.entries.allSatisfy(gallery.isStarred))
        request.cancel()
        withExtendedLifetime(history) {}
        store.close()
      }
    }
  }

  @Test func `a search for new items doesn't remember former items that aren't new`() async throws {
    try await withFolder { folder in
      try withVirtualTime { time in
        let store = SQLiteFeedStore(path: folder.appendingPathComponent("feeds.db").path)
        let feed = feeds[0]
        let former = FeedImage(
          id: FeedImage.ID(name: "0", in: feed), description: "A harbor", url: feed.appendingPathComponent("0.gif"))
        for (images, date) in [([former], now - 60), ([image(of: feed)], now)] {
          _ = try store.replace(for: feed, with: CachedFeed(images: FeedImages(images), timestamp: date), now: now)
        }
        let gallery = gallery(on: time)
        let history = GalleryHistory(
          FeedHistory(store: store, cache: FeedCache(store: store, on: time)), of: gallery, now: { now }
        ) { Issue.record($0) }
        func results(isNew: Bool) -> Int? {
          var (query, count) = (GalleryQuery(), nil as Int?)
          (query.words, query.isNew) = ("harbor", isNew)
          let search = history.page(query).asResult().sink { count = try? $0.get().0.count }
          time.advance(by: .seconds(1))
          search.cancel()
          return count
        }
        let card = gallery.card("\(former.id)", former.url, of: 0)
        #expect(results(isNew: true) == 0)
        #expect(gallery.entry(card: card) == nil)
        #expect(results(isNew: false) == 1)
        #expect(gallery.entry(card: card) != nil)
        withExtendedLifetime(history) {}
        store.close()
      }
    }
  }

  @Test(arguments: [(0.0, 2), (1.1, 1)])
  func `a page waits for visits that fail at once, but for one at most that takes long`(
    seconds: Double, waitedFor: Int
  ) async throws {
    try await withFolder { folder in
      withVirtualTime { time in
        // A folder is not a cache file.
        let store = SQLiteFeedStore(path: folder.path)
        var (date, failures) = (now, 0)
        func later() -> Date {
          date += seconds
          return date
        }
        let history = GalleryHistory(
          FeedHistory(store: store, cache: FeedCache(store: store, on: time)), of: gallery(on: time), now: later
        ) { _ in failures += 1 }
        var failuresBefore: Int?
        let first = history.visit().sink { _ in failuresBefore = failures }
        #expect(failuresBefore == nil)
        time.advance(by: .seconds(1))
        #expect(failuresBefore == waitedFor && failures == 2)
        var isDone = false
        let second = history.visit().sink { _ in isDone = true }
        #expect(isDone)
        withExtendedLifetime((history, first, second)) {}
      }
    }
  }

  @Test func `the marks of a feed that can't be read are read again after a minute`() async throws {
    try await withFolder { folder in
      withVirtualTime { time in
        // A folder is not a cache file.
        let store = SQLiteFeedStore(path: folder.path)
        var (date, failures) = (now, 0)
        let history = GalleryHistory(
          FeedHistory(store: store, cache: FeedCache(store: store, on: time)), of: gallery(on: time), now: { date }
        ) { _ in failures += 1 }
        func failuresOfVisit() -> Int {
          failures = 0
          var isDone = false
          let request = history.visit().sink { _ in isDone = true }
          time.advance(by: .seconds(1))
          #expect(isDone, "the page is shown without the marks")
          request.cancel()
          return failures
        }
        #expect(failuresOfVisit() == 2)
        #expect(failuresOfVisit() == 0)
        date += GalleryHistory.retry + 1
        #expect(failuresOfVisit() == 2)
        withExtendedLifetime(history) {}
      }
    }
  }
}
