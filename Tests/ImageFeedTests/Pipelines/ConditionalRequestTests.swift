import FeedFormats
import FeedStream
import FeedStreamTesting
import Foundation
import ImageFeed
import ImageFeedTesting
import Synchronization
import TestSupport
import Testing

/// The validators of the saved feed, sent to the server so that it need not send the feed again.
@Suite(.settled) struct ConditionalRequestTests {
  /// A server of scripted replies, a store and a clock.
  private final class Place {
    let time = VirtualTimeScheduler()
    let network: VirtualNetwork
    let store: any FeedStore
    let clock = WallClock()
    private(set) var maps = CountingFormat()

    init(store: any FeedStore = InMemoryFeedStore()) {
      self.store = store
      network = VirtualNetwork(on: time)
    }

    /// Sends these responses, one after another, and then repeats the last.
    func serve(_ replies: VirtualReply...) {
      network.serve("example.com") { request, _ in replies[min(request.number, replies.count - 1)] }
    }

    @discardableResult func load() -> Outcome<Feed, FeedError> {
      let cache = FeedCache(store: store, on: time, now: { [clock] in clock.now })
      var options = FeedLoader.Options()
      options.formats = [maps]
      options.report = { Issue.record("A save failed: \($0)") }
      let loader = FeedLoader(address, client: network, cache: cache, on: time, options: options)
      return Outcome(of: loader.load()) { time.run() }
    }

    /// The validators in each request.
    var conditions: [[String]] { network.log.map { $0.request.headers.map { "\($0.name): \($0.value)" } } }
    var saved: CachedFeed? { try? store.retrieve(for: address) }
  }

  /// The web's formats, with a count of the documents that were read.
  private final class CountingFormat: FeedFormat {
    let count = Mutex(0)
    func recognizes(_ document: WebDocument) -> Bool { true }
    func images(of document: WebDocument, within limits: FeedLimits) throws(InvalidData) -> FeedImages {
      count.withLock { $0 += 1 }
      return try [any FeedFormat].web.images(of: document, within: limits)
    }
  }

  private static let images = makeFeed(3).images
  private static let body = FeedPayload.bytes(of: images)
  private static let etag = "W/\"a\\\"b  c\""
  private static let date = "sometime, 06-Nov-94 08:49:37"

  private static func feed(_ headers: HTTPHeaders = [("ETag", etag), ("last-modified", date)]) -> VirtualReply {
    .answer(headers: headers, body)
  }

  private static func unchanged(_ headers: HTTPHeaders = []) -> VirtualReply {
    .answer(status: 304, headers: headers, Data())
  }

  @Test func `validators are sent back unchanged, and a 304 renews the saved feed and delivers it`() {
    let place = Place()
    place.serve(Self.feed(), Self.unchanged())
    #expect(place.load().values == [Feed(images: Self.images, source: .remote)])
    place.clock.now += 3600
    #expect(place.load().values == [Feed(images: Self.images, source: .remote)])
    #expect(place.conditions == [[], ["If-None-Match: \(Self.etag)", "If-Modified-Since: \(Self.date)"]])
    #expect(place.saved?.timestamp == noon + 3600)
    #expect(place.maps.count.withLock { $0 } == 1)
  }

  @Test func `both validators are updated by a 200 and by a 304`() {
    let place = Place()
    place.serve(
      Self.feed(), Self.unchanged([("ETag", "\"2\"")]),
      .answer(headers: [("Last-Modified", "then")], Data("{\"items\":[]}".utf8)),
      Self.unchanged())
    for _ in 0..<4 {
      place.load()
      place.clock.now += 3600
    }
    #expect(place.conditions[2] == ["If-None-Match: \"2\"", "If-Modified-Since: \(Self.date)"])
    #expect(place.conditions[3] == ["If-Modified-Since: then"])
  }

  @Test(arguments: [(691_199.0, true), (691_200, false), (691_201, false)])
  func `after eight days, the feed is requested without conditions`(age: Double, isConditional: Bool) {
    let place = Place()
    place.serve(Self.feed(), Self.unchanged(), Self.feed())
    place.load()
    // A 304 isn't a whole feed.
    place.clock.now += min(age, 86_400)
    place.load()
    place.clock.now = noon + age
    place.load()
    #expect(place.conditions[2].isEmpty == !isConditional)
    place.load()
    #expect(!place.conditions[3].isEmpty)
  }

  @Test func `after the clock was set back by more than five minutes, a request has no conditions`() {
    for (back, isConditional) in [(300.0, true), (301, false)] {
      let place = Place()
      place.serve(Self.feed())
      place.load()
      place.clock.now -= back
      place.load()
      #expect(place.conditions[1].isEmpty == !isConditional)
    }
  }

  @Test func `if the saved feed is gone after a 304, the feed is requested again without conditions`() throws {
    let place = Place()
    place.network.serve("example.com") { [place] request, _ in
      if request.number == 1 { try? place.store.deleteAll() }
      return request.request.headers.isEmpty ? Self.feed() : Self.unchanged()
    }
    place.load()
    #expect(place.load().values == [Feed(images: Self.images, source: .remote)])
    #expect(place.conditions.map(\.isEmpty) == [true, false, true])
    #expect(place.saved?.images == Self.images)
  }

  @Test func `a 304 to a request without conditions fails without another request`() {
    let place = Place()
    place.serve(Self.unchanged())
    #expect(place.load().failure?.remote == .unchanged(FeedValidators()))
    #expect(place.conditions == [[]])
  }

  @Test func `a 200 with the same bytes isn't decoded, and renews the saved feed`() {
    let place = Place()
    place.serve(Self.feed([]))
    place.load()
    place.clock.now += 3600
    #expect(place.load().values == [Feed(images: Self.images, source: .remote)])
    #expect(place.maps.count.withLock { $0 } == 1)
    #expect(place.saved?.timestamp == noon + 3600)
    // After eight days, the bytes are read again.
    place.clock.now += 8 * 86_400
    place.load()
    #expect(place.maps.count.withLock { $0 } == 2)
  }

  @Test func `invalid validators aren't sent`() {
    for value in ["", "\"a\u{1}b\"", "\"\u{FFFD}\"", "\"\(String(repeating: "a", count: 4096))\""] {
      let place = Place()
      place.serve(Self.feed([("ETag", value)]))
      place.load()
      place.load()
      #expect(place.conditions == [[], []])
    }
  }

  @Test func `for a page that links to a feed, the validators are the feed's`() {
    let place = Place()
    place.network.serve("example.com") { request, _ in
      guard request.request.url == address else {
        return request.request.headers.isEmpty ? Self.feed() : Self.unchanged()
      }
      let link = "<link rel=alternate type=application/rss+xml href=/real>"
      return .answer(headers: [("ETag", "\"page\"")], Data("<!doctype html><html><head>\(link)</head>".utf8))
    }
    place.load()
    #expect(place.load().values == [Feed(images: Self.images, source: .remote)])
    #expect(place.conditions.map(\.count) == [0, 0, 0, 2])
    #expect(place.network.log.last?.request.url.path() == "/real")
  }

  @Test func `a 304 writes one page of the cache file`() throws {
    let folder = TemporaryFolder()
    let store = SQLiteFeedStore(path: folder.file())
    let place = Place(store: store)
    place.serve(.answer(headers: [("ETag", Self.etag)], FeedPayload.bytes(of: makeFeed(1000).images)), Self.unchanged())
    place.load()
    let log = { try URL(filePath: folder.file() + "-wal").resourceValues(forKeys: [.fileSizeKey]).fileSize ?? 0 }
    let before = try log()
    place.clock.now += 3600
    place.load()
    // Expect a page of 4,096 bytes and its frame header.
    #expect(try log() - before == 4096 + 24)
    #expect(place.conditions.last == ["If-None-Match: \(Self.etag)"])
    #expect(place.saved?.timestamp == noon + 3600)
    store.close()
  }
}

@Suite(.settled) struct BodyDigestTests {
  @Test func `a digest doesn't depend on how the bytes are split`() {
    let bytes = (0..<100).map { UInt8($0 &* 37 & 0xFF) }
    for size in 1...40 {
      var builder = BodyDigest.Builder()
      for start in stride(from: 0, to: bytes.count, by: size) {
        bytes[start..<min(start + size, bytes.count)].withUnsafeBytes { builder.append($0) }
      }
      #expect(builder.finish() == BodyDigest(bytes))
    }
  }

  @Test func `different bodies have different digests, which are the same in every release`() {
    let bodies = [Data(), Data([0]), Data([0, 0]), Data(repeating: 0, count: 8), Data("a".utf8), Data("b".utf8)]
    #expect(Set(bodies.map { BodyDigest($0) }).count == bodies.count)
    #expect(BodyDigest(Data("feed".utf8)) == BodyDigest(value: 17_602_394_455_550_455_802))
  }
}
