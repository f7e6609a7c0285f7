import FeedFormats
import FeedStream
import FeedStreamTesting
import Foundation
import ImageFeed
import ImageFeedTesting
import TestSupport
import Testing

/// Feeds that are mapped while they arrive.
@Suite(.settled) struct ArrivingDocumentTests {
  private let time = VirtualTimeScheduler()
  private let network: VirtualNetwork
  private let store = InMemoryFeedStore()

  init() {
    network = VirtualNetwork(on: time)
    time.offloadLatency = .milliseconds(1)
  }

  private func serve(_ body: String, pieces: Int = 16 << 10, every interval: StreamInstant.Stride = 0) {
    network.serve("example.com") { _, _ in .answer(Data(body.utf8)).arriving(in: pieces, every: interval) }
  }

  private func load(
    _ change: (inout FeedLoader.Options) -> Void = { _ in }
  ) -> (feed: Feed?, error: RemoteFeedError?) {
    var options = FeedLoader.Options()
    change(&options)
    let cache = FeedCache(store: store, on: time, now: { noon })
    let loader = FeedLoader(address, client: network, cache: cache, on: time, options: options)
    let outcome = Outcome(of: loader.load()) { time.run() }
    return (outcome.values.last, outcome.failure?.remote)
  }

  private static func rss(_ items: Int) -> String {
    "<rss version='2.0'><channel>"
      + (0..<items).map { "<item><guid>\($0)</guid><enclosure type='image/png' url='http://a/\($0).png'/></item>" }
      .joined() + "</channel></rss>"
  }

  /// Many times the number of bytes within which a transfer must detect an error.
  private static let much = 8 << 20

  @Test(arguments: [
    ("a bomb of elements", String(repeating: "<a>", count: much / 3), "levels of nesting"),
    ("a tag without an end", "<rss " + String(repeating: "a='b' ", count: much / 6), "attributes"),
    ("a document type", "<!DOCTYPE rss [" + String(repeating: "<!ENTITY a 'b'>", count: much / 15), "document type"),
    ("words", String(repeating: "word ", count: much / 5), "not a feed"),
    ("an SVG image", "<svg>" + String(repeating: "<g/>", count: much / 4), "not a feed"),
    ("spaces", String(repeating: " ", count: much), "not a feed"),
    ("a page", "<html><body>" + String(repeating: "<p>text</p>", count: much / 11), "web page"),
  ])
  func `a document that isn't a feed stops loading after its first kilobytes`(name: String, body: String, error: String)
  {
    serve(body)
    let result = load()
    let text = result.error.map { "\($0)" } ?? "no error"
    #expect(text.contains(error), "\(name): \(text)")
    #expect(network.log.map(\.ending) == [.cancelled])
    // The first megabyte of a page is searched for links.
    #expect(network.log[0].bytes <= (name == "a page" ? (1 << 20) + (256 << 10) : 128 << 10), "\(name)")
  }

  @Test func `exceeding a limit stops the transfer at that point`() {
    serve(Self.rss(100_000))
    let error = load { $0.limits.items = 1_000 }.error
    #expect(error == .invalidData(.tooMuch(of: "items", limit: 1_000)))
    #expect(network.log[0].bytes < 512 << 10 && network.log[0].ending == .cancelled)
  }

  @Test func `a body over the limit stops the transfer`() {
    serve(Self.rss(100_000))
    guard case .connectivity(let error)? = load({ $0.maxBodyBytes = 1 << 20 }).error else {
      Issue.record("It must fail")
      return
    }
    #expect(error.kind == .tooLarge(limit: 1 << 20) && network.log[0].bytes <= 1 << 20)
  }

  @Test(arguments: [1, 7, 1000, 16 << 10])
  func `a feed is the same and saved, however its bytes are split`(pieces: Int) throws {
    serve(Self.rss(300), pieces: pieces, every: .milliseconds(1))
    let feed = try #require(load().feed)
    #expect(feed.images.count == 300 && feed.images.last?.url.absoluteString == "http://a/299.png")
    #expect(try store.retrieve(for: address)?.images == feed.images)
  }

  @Test func `a large feed arrives completely, and isn't read faster than it is decoded`() throws {
    let body = Self.rss(40_000)
    serve(body)
    time.offloadLatency = 1
    let cache = FeedCache(store: store, on: time, now: { noon })
    var count = 0
    let subscription = FeedLoader(address, client: network, cache: cache, on: time).load()
      .sink { _ in
      } receiveValue: {
        count = $0.images.count
      }
    // A second for the cache, then one for each piece.
    time.advance(by: 1.5)
    #expect(network.log[0].bytes <= 64 << 10)
    time.advance(by: 1)
    #expect(network.log[0].bytes <= 128 << 10)
    time.run()
    #expect(count == 40_000 && network.log[0].bytes == body.utf8.count)
    subscription.cancel()
  }

  @Test func `JSON is decoded once it is complete`() throws {
    let images = makeFeed(20_000).images
    network.serve("example.com") { _, _ in .feed(images) }
    #expect(load().feed?.images == images)
    #expect(network.log[0].bytes > 1 << 20)
  }

  @Test func `a connection lost during the body delivers the saved feed`() throws {
    try store.replace(for: address, with: CachedFeed(images: makeFeed(3).images, timestamp: noon))
    serve(Self.rss(1000), pieces: 1000, every: .milliseconds(10))
    network.fail(Outage(time.now.advanced(by: 0.2)..<time.now.advanced(by: 1)))
    let feed = try #require(load().feed)
    #expect(feed.images.count == 3)
    guard case .cache(_, _, .connectivity(let error)) = feed.source else {
      Issue.record("It must come from the cache")
      return
    }
    #expect(error.kind == .receive)
    #expect((1...20_000).contains(network.log[0].bytes))
  }

  @Test func `cancelling a load during the body closes its request immediately`() {
    serve(Self.rss(10_000), pieces: 1000, every: .milliseconds(10))
    let cache = FeedCache(store: store, on: time, now: { noon })
    let subscription = FeedLoader(address, client: network, cache: cache, on: time).load()
      .sink(receiveCompletion: { _ in }, receiveValue: { _ in })
    time.advance(by: 0.3)
    #expect(network.open.count == 1)
    subscription.cancel()
    #expect(network.log.map(\.ending) == [.cancelled])
    time.run()
  }

  @Test func `a page is left for the feed that it links to, after its first megabyte`() throws {
    let page =
      "<html><head><link rel=alternate type='application/rss+xml' href='/feed.xml'></head>"
      + String(repeating: "<p>text</p>", count: Self.much / 11)
    network.serve("example.com") { request, _ in
      request.request.url.path == "/feed.xml" ? .answer(Data(Self.rss(2).utf8)) : .answer(Data(page.utf8))
    }
    var found: [FeedLink] = []
    let feed = try #require(load { $0.onFeedFound = { found.append($0) } }.feed)
    #expect(feed.images.count == 2)
    #expect(found.map(\.address) == ["https://example.com/feed.xml"])
    #expect(network.log[0].bytes < 2 << 20 && network.log[0].ending == .cancelled)
  }

  @Test func `a page whose feed link leads to another page is reported as a page`() {
    let page = "<html><head><link rel=alternate type='application/rss+xml' href='/a0'></head>"
    network.serve("example.com") { request, _ in
      .answer(Data(page.replacing("/a0", with: request.number == 0 ? "/b" : "/c").utf8))
    }
    guard case .invalidData(.pageOfFeed(let link))? = load().error else {
      Issue.record("It must be a page")
      return
    }
    #expect(link.address == "https://example.com/c" && network.requests == 2)
  }

  @Test func `a custom format can read a document while it arrives`() throws {
    serve("lines\n" + (0..<50_000).map { "http://a/\($0)\n" }.joined())
    let refused = load { $0.formats = [Lines(limit: 10)] + .web }.error
    #expect(refused == .invalidData(.tooMuch(of: "lines", limit: 10)))
    #expect(network.log[0].bytes <= 64 << 10)
    let feed = try #require(load { $0.formats = [Lines()] + .web }.feed)
    #expect(feed.images.count == 50_000)
  }

  /// A format with a line per image, after a first line that identifies it.
  private struct Lines: FeedFormat {
    var limit = Int.max

    func recognizes(_ document: WebDocument) -> Bool { document.body.starts(with: "lines\n".utf8) }

    func reader(of beginning: WebDocument, within limits: FeedLimits) -> (any FeedReader)? { Reader(limit: limit) }

    func images(of document: WebDocument, within limits: FeedLimits) throws(InvalidData) -> FeedImages {
      var reader = Reader(limit: limit)
      try reader.read(document.body.withUnsafeBytes { Chunk(copying: $0) })
      return try reader.finish()
    }

    struct Reader: FeedReader {
      let limit: Int
      var text = ""

      mutating func read(_ bytes: Chunk) throws(InvalidData) {
        text += bytes.text
        if text.utf8.count(where: { $0 == 0x0A }) > limit { throw .tooMuch(of: "lines", limit: limit) }
      }

      mutating func finish() throws(InvalidData) -> FeedImages {
        FeedImages(
          text.split(separator: "\n").dropFirst().map {
            FeedImage(id: .init(name: String($0), in: address), description: nil, url: URL(string: String($0))!)
          })
      }
    }
  }
}
