import FeedHTTP
import FeedStream
import FeedStreamTesting
import Foundation
import ImageFeedTesting
import Synchronization
import TestSupport
import Testing

@testable import FeedPolling
@testable import ImageFeed

/// Images of items that have none, from their pages: on a virtual network, in virtual time.
@Suite(.settled) struct PageImageFinderTests {
  private final class Place {
    let time = VirtualTimeScheduler()
    let network: VirtualNetwork
    let store = InMemoryFeedStore()
    var results: [FeedReport] = []
    var errors: [FeedStoreError] = []
    private let clock: Clock
    private var process: AnyCancellable?

    init() {
      network = VirtualNetwork(on: time)
      clock = Clock(time)
      time.offloadLatency = .milliseconds(1)
    }

    func start(every interval: Duration = .seconds(3600), client: (any HTTPClient)? = nil) {
      let client: any HTTPClient = client ?? network
      let cache = FeedCache(store: store, on: time, now: { [clock] in clock.now })
      let book = PageImageBook(store)
      var polled = PolledAddress(address, every: interval)
      polled.options.pageImages = book
      var polling = FeedPoller.Options()
      polling.seed = 7
      let poller = FeedPoller([polled], client: client, cache: cache, store: store, on: time, options: polling)
      var options = PageImageFinder.Options()
      options.report = { [unowned self] in errors.append($0) }
      let finder = PageImageFinder(book, store: store, client: client, cache: cache, on: time, options: options)
      process = finder.finding(in: poller).sink { [unowned self] in results.append($0) }
    }

    func stop() { process = nil }

    func setClock(back seconds: Double) { clock.error.withLock { $0 -= seconds } }

    var shown: [String] { results.last?.images.map(\.url.lastPathComponent) ?? [] }
    var visits: [VirtualExchange] { network.log.filter { $0.request.url.path != "/feed" } }
    var seconds: [Int] { visits.map { Int($0.sent.nanoseconds / 1_000_000_000) } }

    private final class Clock: Sendable {
      let time: VirtualTimeScheduler
      let error = Mutex(0.0)
      init(_ time: VirtualTimeScheduler) { self.time = time }
      var now: Date { noon + error.withLock { $0 } + Double(time.now.nanoseconds) / 1e9 }
    }
  }

  /// Items by number; those with an image have it as an enclosure.
  private static func feed(_ items: [(number: Int, hasImage: Bool)], host: String = "example.com") -> VirtualReply {
    let items = items.map { item in
      let image =
        item.hasImage ? "<enclosure url='https://\(host)/i\(item.number).jpg' type='image/jpeg' length='1'/>" : ""
      return "<item><title>T\(item.number)</title><link>https://\(host)/p\(item.number)</link>\(image)</item>"
    }
    return .answer(
      headers: [("Content-Type", "application/rss+xml")],
      Data("<rss version='2.0'><channel><title>F</title>\(items.joined())</channel></rss>".utf8))
  }

  private static func page(_ image: String?) -> VirtualReply {
    let meta = image.map { "<meta property='og:image' content='\($0)'>" } ?? ""
    return .answer(headers: [("Content-Type", "text/html; charset=utf-8")], Data("<html>\(meta)</html>".utf8))
  }

  @Test func `items without images get their pages' images, with one request each, a second apart`() {
    let place = Place()
    place.network.serve("example.com") { request, _ in
      switch request.request.url.path {
      case "/feed": Self.feed([(1, false), (2, true), (3, false), (4, false), (5, true)])
      case "/p3": Self.page(nil)
      case let path: Self.page("/found\(path.dropFirst(2)).png")
      }
    }
    place.start()
    place.time.advance(by: .seconds(30))
    #expect(place.shown == ["found1.png", "i2.jpg", "found4.png", "i5.jpg"])
    #expect(
      place.results.last?.images.omittedItems == 1
        && place.results.last?.images.map(\.title) == ["T1", "T2", "T4", "T5"])
    #expect(place.visits.map(\.request.url.path) == ["/p1", "/p3", "/p4"])
    #expect(zip(place.seconds.dropFirst(), place.seconds).allSatisfy { $0 - $1 >= 1 })
    // The images are saved with the feed, for the next process, and no page is requested again.
    place.time.advance(by: .seconds(4 * 3600))
    place.stop()
    let before = place.results.count
    place.start()
    place.time.advance(by: .seconds(4 * 3600))
    #expect(place.visits.count == 3 && place.results.count > before)
    #expect(place.shown == ["found1.png", "i2.jpg", "found4.png", "i5.jpg"] && place.errors.isEmpty)
    place.stop()
  }

  @Test func `a feed from a private network gets no image that a public page names`() {
    let place = Place()
    place.network.serve("example.com") { request, _ in
      switch request.request.url.path {
      case "/feed":
        let items = ["https://example.com/p1", "https://web.example/p2", "https://web.example/3.png"].map {
          "<item><title>T</title><link>\($0)</link></item>"
        }
        return .answer(
          headers: [("Content-Type", "application/rss+xml")],
          Data("<rss version='2.0'><channel>\(items.joined())</channel></rss>".utf8))
      default: return Self.page("/found1.png")
      }
    }
    place.network.serve("web.example") { request, _ in
      request.request.url.path == "/p2"
        ? Self.page("http://192.168.1.1/reboot.png") : .answer(headers: [("Content-Type", "image/png")], Data([1]))
    }
    place.start(client: MarkingClient(network: place.network, privateHost: "example.com"))
    place.time.advance(by: .seconds(60))
    #expect(place.shown == ["found1.png", "3.png"] && place.errors.isEmpty)
    #expect(place.results.last?.images.isFromPrivateNetwork == true && place.visits.count == 3)
    place.stop()
  }

  @Test func `a feed that becomes private loses images that public pages named, until it is public again`() {
    let place = Place()
    place.network.serve("example.com") { request, _ in
      .answer(
        headers: [("Content-Type", "application/rss+xml")],
        Data(
          """
          <rss version='2.0'><channel><item><title>T</title><link>https://web.example/p1</link></item>
          <item><title>\(request.time.nanoseconds)</title><enclosure url='/2.png' type='image/png'/></item>
          </channel></rss>
          """.utf8))
    }
    place.network.serve("web.example") { _, _ in Self.page("http://192.168.1.1/reboot.png") }
    place.start(client: MarkingClient(network: place.network, privateHost: "example.com", start: 1_800_000_000_000))
    place.time.advance(by: .seconds(60))
    #expect(place.shown == ["reboot.png", "2.png"])
    place.time.advance(by: .seconds(2 * 3600))
    #expect(place.shown == ["2.png"] && place.results.last?.images.isFromPrivateNetwork == true)
    place.stop()
    place.start(client: MarkingClient(network: place.network, privateHost: "none"))
    place.time.advance(by: .seconds(2 * 3600))
    #expect(place.shown == ["reboot.png", "2.png"] && place.visits.count == 1 && place.errors.isEmpty)
    place.stop()
  }

  @Test func `images found for the items of a document that isn't saved leave the saved feed unchanged`() throws {
    let (first, item, new) = (makeImage(1), makeImage(2), makeImage(3))
    let saved = FeedImages([first, item])
    let found = [item.id: try #require(WebAddress("https://example.com/found.png"))]
    #expect(saved.filled([.init(item: item, after: new.id)], with: found) == saved)
    let filled = saved.filled([.init(item: item, after: first.id)], with: found)
    #expect(filled.map(\.url.lastPathComponent) == ["1.jpg", "found.png"])
  }

  @Test func `pages that are loaded on demand have the images found on items' pages, and save them`() throws {
    let place = Place()
    place.network.serve("example.com") { request, _ in
      switch request.request.url.path {
      case "/feed": Self.feed([(1, false), (2, true), (3, false)])
      case let path: Self.page("/found\(path.dropFirst(2)).png")
      }
    }
    place.start()
    place.time.advance(by: .seconds(30))
    place.stop()
    let wanted = ["found1.png", "i2.jpg", "found3.png"]
    #expect(place.shown == wanted)
    var options = FeedLoader.Options()
    options.pageImages = PageImageBook(place.store)
    let cache = FeedCache(store: place.store, on: place.time, now: { noon + 60 })
    let loader = FeedLoader(address, client: place.network, cache: cache, on: place.time, options: options)
    var images: [String] = []
    let pages = loader.pages().sink { _ in
    } receiveValue: {
      images += $0.images.map(\.url.lastPathComponent)
    }
    place.time.advance(by: .seconds(30))
    #expect(images == wanted)
    #expect(try place.store.retrieve(for: address)?.images.map(\.url.lastPathComponent) == wanted)
    pages.cancel()
  }

  @Test func `when a document changes, found images are kept and only new items' pages are requested`() {
    let place = Place()
    place.network.serve("example.com") { request, number in
      switch request.request.url.path {
      case "/feed" where request.time.nanoseconds < 1_800_000_000_000: Self.feed([(1, false), (2, true)])
      case "/feed": Self.feed([(3, false), (1, false), (2, true)])
      case let path: Self.page("https://cdn.example.com/found\(path.dropFirst(2)).png")
      }
    }
    place.start()
    place.time.advance(by: .seconds(2 * 3600))
    #expect(place.shown == ["found3.png", "found1.png", "i2.jpg"])
    #expect(place.visits.map(\.request.url.path) == ["/p1", "/p3"])
    place.stop()
  }

  @Test func `a page that wasn't read is requested by the next process, after its host's pause`() {
    let place = Place()
    place.network.serve("example.com") { request, _ in
      if request.request.url.path == "/feed" { return Self.feed([(1, false), (2, false), (3, false)]) }
      if request.time.nanoseconds < 1_000_000_000_000 {
        return .answer(status: 429, headers: [("Retry-After", "1000")], Data())
      }
      return Self.page("/found\(request.request.url.path.dropFirst(2)).png")
    }
    place.start(every: .seconds(24 * 3600))
    place.time.advance(by: .seconds(900))
    #expect(place.visits.map(\.request.url.path) == ["/p1"])
    place.time.advance(by: .seconds(600))
    #expect(place.visits.map(\.request.url.path) == ["/p1", "/p2", "/p3"])
    #expect(place.shown == ["found2.png", "found3.png"])
    place.stop()
    place.start(every: .seconds(24 * 3600))
    place.time.advance(by: .seconds(60))
    #expect(place.visits.map(\.request.url.path) == ["/p1", "/p2", "/p3", "/p1"])
    #expect(place.shown == ["found1.png", "found2.png", "found3.png"])
    place.stop()
  }

  @Test(arguments: [200, 429]) func `after a used-up quota (RateLimit), the next page waits for its reset`(status: Int)
  {
    let place = Place()
    place.network.serve("example.com") { request, _ in
      if request.request.url.path == "/feed" { return Self.feed([(1, false), (2, false)]) }
      let headers: HTTPHeaders = [
        ("RateLimit-Remaining", "0"), ("RateLimit-Reset", "1000"), ("Content-Type", "text/html"),
      ]
      return .answer(status: status, headers: headers, Data("<html></html>".utf8))
    }
    place.start(every: .seconds(24 * 3600))
    place.time.advance(by: .seconds(2000))
    #expect(place.visits.map(\.request.url.path) == ["/p1", "/p2"])
    #expect(place.seconds == [1, 1001])
    place.stop()
  }

  @Test func `a pause after a redirect is the pause of the host that requested it`() throws {
    let place = Place()
    place.network.serve("example.com") { request, _ in
      request.request.url.path == "/feed"
        ? Self.feed([(1, false)])
        : .answer(status: 302, headers: [("Location", "https://other.example/")], Data())
    }
    place.network.serve("other.example") { _, _ in
      .answer(status: 429, headers: [("Retry-After", "86400")], Data())
    }
    place.start()
    place.time.advance(by: .seconds(60))
    #expect(place.visits.count == 2)
    #expect(try place.store.health(ofHost: "example.com")?.pausedUntil == nil)
    #expect(try #require(try place.store.health(ofHost: "other.example")?.pausedUntil) > noon + 86_000)
    place.stop()
  }

  @Test func `pages that redirect to one host are requested from it one after another, with gaps`() {
    let place = Place()
    place.network.serve("example.com") { request, _ in
      request.request.url.path == "/feed"
        ? Self.feed([(1, false), (2, false), (3, false)])
        : .answer(
          status: 302, headers: [("Location", "https://other.example\(request.request.url.path)")], Data())
    }
    place.network.serve("other.example") { request, _ in Self.page("/found\(request.request.url.path.dropFirst(2)).png")
    }
    place.start()
    place.time.advance(by: .seconds(60))
    #expect(place.shown == ["found1.png", "found2.png", "found3.png"])
    let sent = place.visits.filter { $0.request.url.host() == "other.example" }.map(\.sent)
    #expect(sent.count == 3 && zip(sent, sent.dropFirst()).allSatisfy { $0.distance(to: $1) >= .seconds(1) })
    place.stop()
  }

  /// A feed whose pages redirect to another host.
  private func redirecting(_ count: Int) -> Place {
    let place = Place()
    place.network.serve("example.com") { request, _ in
      request.request.url.path == "/feed"
        ? Self.feed((1...count).map { ($0, false) })
        : .answer(
          status: 302, headers: [("Location", "https://other.example\(request.request.url.path)")], Data())
    }
    return place
  }

  @Test func `pages that redirect to a paused host are requested again when it opens`() {
    let place = redirecting(5)
    place.network.serve("other.example") { request, number in
      request.request.url.path == "/p2" && request.time.nanoseconds < 60_000_000_000
        ? .answer(status: 429, headers: [("Retry-After", "600")], Data())
        : Self.page("/found\(request.request.url.path.dropFirst(2)).png")
    }
    place.start()
    place.time.advance(by: .seconds(60))
    #expect(place.shown == ["found1.png"], "found images don't wait for the pause")
    #expect(place.visits.filter { $0.request.url.host() == "example.com" }.count == 5)
    place.time.advance(by: .seconds(600))
    #expect(place.shown == ["found1.png", "found3.png", "found4.png", "found5.png"])
    #expect(place.visits.filter { $0.request.url.host() == "example.com" }.count == 8)
    place.stop()
  }

  @Test func `a found image doesn't wait for pages that were put off before`() {
    let place = Place()
    place.network.serve("example.com") { request, _ in
      switch request.request.url.path {
      case "/feed": Self.feed((1...4).map { ($0, false) })
      case "/p4": Self.page("/found4.png")
      case let path: .answer(status: 302, headers: [("Location", "https://other.example\(path)")], Data())
      }
    }
    var other = HostHealth(name: "other.example")
    other.pausedUntil = noon + 600
    place.store.save(other)
    place.network.serve("other.example") { _, _ in Self.page("/found.png") }
    place.start()
    place.time.advance(by: .seconds(20))
    #expect(place.shown == ["found4.png"])
    place.stop()
  }

  @Test func `a page that redirects to a paused host isn't requested while the pause is extended`() {
    let place = redirecting(1)
    place.network.serve("other.example") { _, _ in Self.page("/found1.png") }
    place.start()
    var other = HostHealth(name: "other.example")
    for end in [100.0, 200, 300] {
      other.pausedUntil = noon + end
      place.store.save(other)
      place.time.advance(by: .seconds(end == 100 ? 90 : 100))
    }
    #expect(place.visits.map { $0.request.url.host() } == ["example.com"])
    place.time.advance(by: .seconds(20))
    #expect(place.visits.map { $0.request.url.host() } == ["example.com", "example.com", "other.example"])
    #expect(place.shown == ["found1.png"])
    place.stop()
  }

  @Test(arguments: [true, false])
  func `pages that redirect to a host that rests for long wait in that host's queue`(isStated: Bool) {
    let place = redirecting(4)
    var headers: HTTPHeaders = [
      ("Content-Type", "text/html"), ("RateLimit", "\"d\";r=1;t=600"), ("RateLimit-Policy", "\"d\";q=100;w=3600"),
    ]
    if !isStated {
      headers = [("Content-Type", "text/html")]
      var (other, pace) = (HostHealth(name: "other.example"), HostPace())
      (pace.gap, pace.refusals) = (600, 3)
      other.pace = pace
      place.store.save(other)
    }
    place.network.serve("other.example") { [headers] request, _ in
      .answer(
        headers: headers,
        Data("<meta property='og:image' content='/found\(request.request.url.path.dropFirst(2)).png'>".utf8))
    }
    place.start(every: .seconds(24 * 3600))
    place.time.advance(by: .seconds(500))
    #expect(place.visits.filter { $0.request.url.host() == "example.com" }.count == 4)
    place.time.advance(by: .seconds(2000))
    #expect(place.visits.filter { $0.request.url.host() == "example.com" }.count == 4 + 3)
    #expect(place.shown == ["found1.png", "found2.png", "found3.png", "found4.png"])
    place.stop()
  }

  @Test func `pages are requested in time, even if the clock is set back`() {
    let place = Place()
    place.network.serve("example.com") { request, _ in
      request.request.url.path == "/feed" ? Self.feed((1...20).map { ($0, false) }) : Self.page("/found.png")
    }
    place.start()
    place.time.advance(by: .seconds(8))
    place.setClock(back: 3 * 86_400)
    place.time.advance(by: .seconds(120))
    #expect(place.visits.count == 20)
    place.stop()
  }

  @Test func `a finder that is cancelled while it claims a host sends no request, and frees the host`() throws {
    let place = Place()
    place.network.serve("example.com") { request, _ in
      request.request.url.path == "/feed" ? Self.feed([(1, false)]) : Self.page("/found.png")
    }
    place.start()
    func host() throws -> HostHealth? { try place.store.health(ofHost: "example.com") }
    // The claim for the page has been carried out, but its result hasn't arrived.
    while try place.results.isEmpty || host()?.opens ?? .distantPast < noon + 10 {
      try #require(place.time.now.nanoseconds < 5_000_000_000)
      place.time.advance(by: .microseconds(100))
    }
    #expect(place.visits.isEmpty)
    place.stop()
    place.time.advance(by: .seconds(60))
    #expect(place.visits.isEmpty)
    #expect(try #require(try host()).opens <= noon + 4)
  }

  @Test func `a page is read up to 128 KiB, then its request is cancelled`() {
    let place = Place()
    place.network.serve("example.com") { request, _ in
      if request.request.url.path == "/feed" { return Self.feed([(1, false)]) }
      let head = Data("<html><meta property=og:image content=/early.png>".utf8)
      return VirtualReply.answer(
        headers: [("Content-Type", "text/html")], head + Data(repeating: 0x20, count: 8 << 20)
      ).arriving(in: 16 << 10, every: .milliseconds(10))
    }
    place.start()
    place.time.advance(by: .seconds(60))
    #expect(place.shown == ["early.png"])
    // Eight of sixteen pieces were read; the whole page would have taken five seconds.
    let visit = place.visits[0]
    #expect(visit.ended.map { visit.sent.distance(to: $0) < .seconds(1) } == true)
    place.stop()
  }

  @Test func `a cancelled finder closes its requests and releases their hosts`() throws {
    let place = Place()
    place.network.serve("example.com") { request, _ in
      request.request.url.path == "/feed" ? Self.feed([(1, false)]) : VirtualReply(after: 0, .silence)
    }
    place.start()
    place.time.advance(by: .seconds(3))
    #expect(place.visits.count == 1)
    place.stop()
    place.time.advance(by: .milliseconds(10))
    let host = try #require(try place.store.health(ofHost: "example.com"))
    #expect(host.opens <= noon + 4.1)
  }

  @Test func `another finder's visit blocks a host, and a page's note survives encoding`() throws {
    let visit = HostVisit(host: "h", now: noon, lease: .seconds(15))
    let (isGranted, host) = visit.decide(nil)
    #expect(isGranted && host.opens == noon + 15)
    #expect(!visit.decide(host).isGranted)
    var note = PageImageNote()
    note.items = [
      .init(item: makeImage(1), after: nil), .init(item: makeImage(2), after: makeImage(9).id),
    ]
    note.take("https://example.com/1.png", for: makeImage(1).id, isTrusted: true)
    note.take(nil, for: makeImage(2).id)
    note.take(nil, for: makeImage(3).id, isTrusted: false)
    let stored = note.stored
    let read = try #require(stored.withUnsafeBytes { PageImageNote(stored: $0) })
    #expect(read.items == note.items && read.open.isEmpty)
    #expect(read.found(inPrivate: true).map(\.value.text) == ["https://example.com/1.png"])
    #expect(read.answers.map(\.isTrusted) == [true, nil, false])
    for number in 0..<2_000 { note.take(nil, for: makeImage(number + 10).id) }
    #expect(note.answers.count <= 1_100 && note.open.isEmpty)
  }

  @Test func `long titles and URLs don't make the note of items' pages long`() {
    var builder = FeedImages.Builder(count: 0)
    let title = String(repeating: "t", count: 300_000)
    for number in 0..<100 { builder.omit(makeImage(number, description: number < 98 ? title : "a title")) }
    var note = PageImageNote()
    note.items = builder.finish().imageless
    #expect(note.items.map(\.item.id) == [0, 98, 99].map { makeImage($0).id }, "one long title fits")
    for number in 0..<3_000 {
      note.take("https://a.example/" + String(repeating: "x", count: number), for: makeImage(number).id)
    }
    #expect(note.stored.count < 1 << 20)
    note.take("https://a.example/" + String(repeating: "x", count: 3_000), for: makeImage(99).id)
    let found = note.found(inPrivate: nil)
    #expect(found[makeImage(98).id] != nil && found[makeImage(99).id] == nil && note.open.isEmpty)
  }
}

extension FeedReport {
  fileprivate var images: FeedImages { (try? result.get().images) ?? [] }
}

/// Marks the responses of one host as from a private network from some time on, and all others as public.
private struct MarkingClient: HTTPClient {
  let network: VirtualNetwork
  let privateHost: String
  /// The time in nanoseconds before which all responses are public.
  var start: Int64 = 0

  var scheduler: (any LoopScheduler)? { network.scheduler }

  private func isPrivate(_ url: URL) -> Bool {
    url.host == privateHost && (network.scheduler?.now.nanoseconds ?? 0) >= start
  }

  func get(_ request: HTTPRequest) -> AnyPublisher<HTTPResponse, HTTPError> {
    network.get(request).map { response in
      var response = response
      response.isPrivate = isPrivate(response.url)
      return response
    }
    .eraseToAnyPublisher()
  }

  func open(_ request: HTTPRequest) -> AnyPublisher<StreamingResponse, HTTPError> {
    network.open(request).map { response in
      var response = response
      response.isPrivate = isPrivate(response.url)
      return response
    }
    .eraseToAnyPublisher()
  }
}
