import FeedStream
import FeedStreamTesting
import Foundation
import ImageFeed
import ImageFeedTesting
import TestSupport
import Testing

/// Pages that are loaded on demand.
@Suite(.settled) struct FeedPagesTests {
  private let time = VirtualTimeScheduler()
  private let network: VirtualNetwork
  private let store = InMemoryFeedStore()
  private let clock = WallClock()

  init() { network = VirtualNetwork(on: time) }

  private func loader(
    _ url: URL = address, pageImages: PageImageBook? = nil, retry: RetryPolicy = .immediate(limit: 0)
  ) -> FeedLoader {
    var options = FeedLoader.Options()
    (options.pageImages, options.retry) = (pageImages, retry)
    return FeedLoader(
      url, client: network, cache: FeedCache(store: store, on: time, now: { [clock] in clock.now }), on: time,
      options: options)
  }

  private static func item(_ number: Int) -> String {
    "{\"id\": \"\(number)\", \"image\": \"https://a/\(number).png\"}"
  }

  /// Pages of two images each, which overlap by one if `step` is 1; the last of them leads to `last`.
  private func serve(_ count: Int, step: Int = 2, last: String? = nil) {
    network.serve("example.com") { request, _ in
      let page = Int(request.request.url.query() ?? "") ?? 0
      let next = page < count - 1 ? "https://example.com/feed?\(page + 1)" : last
      let items = [page * step, page * step + 1].map(Self.item).joined(separator: ", ")
      let link = next.map { "\"next_url\": \"\($0)\", " } ?? ""
      return .answer(Data("{\"version\": \"https://jsonfeed.org/version/1.1\", \(link)\"items\": [\(items)]}".utf8))
    }
  }

  private func numbers(_ feed: Feed) -> String {
    feed.images.map { $0.url.deletingPathExtension().lastPathComponent }.joined(separator: " ")
  }

  private func all(_ url: URL = address) -> [String] {
    var pages: [String] = []
    let subscription = loader(url).pages().sink {
      if case .failure(let error) = $0 { pages.append("\(error.remote)") }
    } receiveValue: {
      pages.append(numbers($0))
    }
    time.run()
    subscription.cancel()
    return pages
  }

  @Test func `a relative next page of the same origin is requested with the user of the feed's URL`() {
    let url = URL(string: "https://ann:secret@example.com/feed")!
    network.serve("example.com") { request, _ in
      let next = request.request.url.query() == nil ? "\"next_url\": \"/feed?1\", " : ""
      let item = "{\"id\": \"1\", \"url\": \"/post\", \"image\": \"/1.png\"}"
      return .answer(Data("{\"version\": \"https://jsonfeed.org/version/1.1\", \(next)\"items\": [\(item)]}".utf8))
    }
    var shown: [String] = []
    let subscription = loader(url).pages().sink { _ in
    } receiveValue: {
      shown += $0.images.map { "\($0.url.absoluteString) \($0.post.link?.absoluteString ?? "")" }
    }
    time.run()
    subscription.cancel()
    #expect(network.log.map { $0.request.url.absoluteString } == [url.absoluteString, url.absoluteString + "?1"])
    #expect(Set(shown) == ["https://example.com/1.png https://example.com/post"])
  }

  @Test func `a page is requested only on demand`() throws {
    serve(3)
    var subscription: (any Subscription)?
    var pages: [String] = []
    var isFinished = false
    loader().pages().subscribe(
      AnySubscriber(
        receiveSubscription: { subscription = $0 },
        receiveValue: {
          pages.append(numbers($0))
          return .none
        },
        receiveCompletion: { _ in isFinished = true }))
    time.run()
    #expect(network.requests == 0)
    for (index, page) in ["0 1", "2 3", "4 5"].enumerated() {
      subscription?.request(.max(1))
      time.run()
      #expect(network.requests == index + 1)
      #expect(pages.last == page)
      #expect(try store.retrieve(for: address)?.images.count == 2 * (index + 1))
    }
    #expect(isFinished && pages.count == 3)
  }

  @Test func `images that an earlier page had are dropped`() {
    serve(3, step: 1)
    #expect(all() == ["0 1", "2", "3"])
  }

  @Test func `pages end at a repeated URL, or at a page without new images`() {
    serve(2, last: "https://example.com/feed")
    #expect(all() == ["0 1", "2 3"])
    #expect(network.requests == 2)
    serve(50, step: 0)
    #expect(all() == ["0 1"])
    #expect(network.requests == 4)
  }

  @Test func `Atom's next link is followed`() {
    network.serve("example.com") { request, _ in
      let page = Int(request.request.url.query() ?? "") ?? 0
      let next = page < 2 ? "<link rel='next' href='?\(page + 1)'/>" : ""
      let entry = "<entry><id>\(page)</id><link rel='enclosure' type='image/png' href='https://a/\(page).png'/></entry>"
      return .answer(Data("<feed xmlns='http://www.w3.org/2005/Atom'>\(next)\(entry)</feed>".utf8))
    }
    #expect(all() == ["0", "1", "2"])
  }

  @Test func `pages of Essential Feed JSON end with the first page that isn't full`() {
    let images = makeFeed(7).images
    network.serve("example.com") { request, _ in
      let items = URLComponents(url: request.request.url, resolvingAgainstBaseURL: false)?.queryItems ?? []
      let after = items.first { $0.name == "after_id" }?.value
      let start = images.firstIndex { $0.id.uuid.uuidString == after }.map { $0 + 1 } ?? 0
      return .feed(images[start..<min(start + 3, images.count)])
    }
    #expect(all(URL(string: "https://example.com/feed?limit=3")!) == ["0 1 2", "3 4 5", "6"])
    #expect(network.requests == 3)
    // Without a limit there are no pages.
    #expect(all().count == 1)
  }

  @Test func `a failing page is the failure, and the earlier pages stay saved`() throws {
    serve(2, last: "https://nowhere.example/feed")
    let pages = all()
    #expect(pages.count == 3 && pages[2].contains("nowhere.example"))
    #expect(try store.retrieve(for: address)?.images.count == 4)
  }

  @Test func `a later page doesn't replace a feed that was saved after the first page was requested`() throws {
    serve(2)
    let recorder = loader().pages().record(on: time, demand: .max(1))
    time.run()
    let newer = makeFeed(5, from: 10, at: noon + 900)
    try store.replace(for: address, with: newer)
    clock.now = noon + 1800
    recorder.request(.max(1))
    time.run()
    #expect(recorder.values.map(numbers) == ["0 1", "2 3"])
    #expect(try recorder.completion == .finished && store.retrieve(for: address) == newer)
  }

  @Test(arguments: ["status 304", "the same images"])
  func `a later page is saved after the saved feed was renewed`(poll: String) throws {
    serve(3)
    let recorder = loader().pages().record(on: time, demand: .max(1))
    time.run()
    for page in 1...2 {
      let saved = try #require(try store.retrieve(for: address))
      clock.now += 900
      if poll == "status 304" {
        let renewal = FeedRenewal(timestamp: clock.now, since: saved.validators, validators: saved.validators)
        #expect(try store.renew(for: address, with: renewal, now: clock.now) == .renewed)
      } else {
        // A server whose documents contain the current time: the digest differs, and only the first page is saved.
        try store.replace(for: address, with: CachedFeed(images: Array(saved.images.prefix(2)), timestamp: clock.now))
      }
      clock.now += 60
      recorder.request(.max(1))
      time.run()
      let images = try #require(try store.retrieve(for: address)).images
      #expect(images.count == 2 * (page + 1))
    }
    #expect(try store.retrieve(for: address)?.timestamp == clock.now - 60)
    #expect(recorder.values.map(numbers) == ["0 1", "2 3", "4 5"])
  }

  @Test(arguments: [false, true])
  func `an image found on an item's page stays saved when a later page is saved`(isRenewed: Bool) throws {
    network.serve("example.com") { request, _ in
      let isFirst = request.request.url.query() == nil
      let link = isFirst ? "\"next_url\": \"https://example.com/feed?1\", " : ""
      let imageless = "{\"id\": \"1\", \"url\": \"https://example.com/1\", \"title\": \"One\"}"
      // A later page may have the item as well.
      let items = Self.item(isFirst ? 0 : 2) + (isFirst || isRenewed ? ", \(imageless)" : "")
      return .answer(Data("{\"version\": \"https://jsonfeed.org/version/1.1\", \(link)\"items\": [\(items)]}".utf8))
    }
    let book = PageImageBook(store)
    let recorder = loader(pageImages: book).pages().record(on: time, demand: .max(1))
    time.run()
    let item = try #require(try book.openPages(of: address).first)
    try book.note("https://a/1.png", of: item.id, in: address, isTrusted: true)
    let filled = try #require(try book.fill(address, now: clock.now))
    if isRenewed {
      // By a server whose documents contain the current time.
      clock.now += 900
      try store.replace(for: address, with: CachedFeed(images: filled, timestamp: clock.now))
    }
    recorder.request(.max(1))
    time.run()
    #expect(recorder.values.count == 2)
    #expect(try store.retrieve(for: address)?.images.map(\.url.lastPathComponent) == ["0.png", "1.png", "2.png"])
  }

  @Test func `a later page that the server calls unchanged is a failure, and is requested once`() throws {
    network.serve("other.example") { _, _ in .answer(status: 304, Data()) }
    serve(1, last: "https://other.example/feed")
    let recorder = loader().pages().record(on: time, demand: .max(4))
    time.run()
    #expect(recorder.values.map(numbers) == ["0 1"])
    #expect(recorder.failure?.remote == .invalidData(.status(304)))
    #expect(network.requests == 2)
  }

  @Test func `a page whose request fails is retried, and is saved once`() throws {
    network.serve("example.com") { request, _ in
      // Each page's first request fails.
      guard request.number % 2 == 1 else { return .drop() }
      let page = request.number / 2
      let link = page == 0 ? "\"next_url\": \"https://example.com/feed?1\", " : ""
      let items = [2 * page, 2 * page + 1].map(Self.item).joined(separator: ", ")
      return .answer(Data("{\"version\": \"https://jsonfeed.org/version/1.1\", \(link)\"items\": [\(items)]}".utf8))
    }
    let recorder = loader(retry: .constant(.seconds(1), limit: 1)).pages().record(on: time, demand: .max(2))
    time.advance(by: .milliseconds(500))
    #expect(recorder.values.isEmpty)
    // Another program saves the feed during the pause; the retried page is newer.
    clock.now += 60
    try store.replace(for: address, with: makeFeed(5, from: 10, at: clock.now))
    clock.now += 60
    time.run()
    #expect(recorder.values.map(numbers) == ["0 1", "2 3"] && recorder.completion == .finished)
    #expect(recorder.values.map(\.source) == [.remote, .remote] && network.requests == 4)
    let saved = try #require(try store.retrieve(for: address))
    #expect(saved.images.count == 4 && saved.timestamp == clock.now)
  }

  @Test func `with an unreachable server, the saved feed is the only page`() throws {
    try store.replace(for: address, with: makeFeed(3))
    network.disconnect()
    #expect(all() == ["0 1 2"])
  }

  @Test func `pages keeps the rules of a stream`() {
    StreamRules.verify("pages()", traits: [.isShort, .failsAtOnce]) { upstream, time in
      let network = VirtualNetwork(on: time)
      network.serve("example.com") { request, _ in
        let page = Int(request.request.url.query() ?? "") ?? 0
        let next = page < 2 ? "\"next_url\": \"https://example.com/feed?\(page + 1)\", " : ""
        let body = "{\"version\": \"https://jsonfeed.org/version/1.1\", \(next)\"items\": [\(Self.item(page))]}"
        return .answer(Data(body.utf8))
      }
      let cache = FeedCache(store: InMemoryFeedStore(), on: time, now: { noon })
      let pages = FeedLoader(address, client: network, cache: cache, on: time).pages()
      return upstream.flatMap(maxPublishers: .max(1)) { _ in
        pages.map(\.images.count).replaceError(with: -1).setFailureType(to: MarbleFailure.self)
      }
    }
  }
}
