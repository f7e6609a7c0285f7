import FeedFormats
import FeedPolling
import FeedStream
import FeedStreamTesting
import Foundation
import ImageFeed
import ImageFeedTesting
import TestSupport
import Testing

/// Documents whose end is missing: they are shown if there is nothing better, and never saved.
@Suite(.settled) struct CutDocumentTests {
  /// A format with three images.
  enum Form: String, CaseIterable, CustomTestStringConvertible {
    case rss, rdf, atom, cdf, bare, jsonFeed, rssJSON, caseStudy

    var testDescription: String { rawValue }

    func document(_ count: Int = 3) -> String {
      let items = (0..<count).map(item).joined(separator: self == .jsonFeed || self == .rssJSON ? "," : "\n")
      return switch self {
      case .rss: "<?xml version=\"1.0\"?><rss version=\"2.0\"><channel><title>T</title>\(items)</channel></rss>"
      case .rdf:
        "<rdf:RDF xmlns:rdf=\"http://www.w3.org/1999/02/22-rdf-syntax-ns#\" xmlns=\"http://purl.org/rss/1.0/\">"
          + "<channel><title>T</title></channel>\(items)</rdf:RDF>"
      case .atom: "<feed xmlns=\"http://www.w3.org/2005/Atom\"><title>T</title>\(items)</feed>"
      case .cdf: "<channel href=\"https://a/\"><title>T</title>\(items)</channel>"
      case .bare: "<channel><title>T</title>\(items)</channel>"
      case .jsonFeed:
        "{\"version\":\"https://jsonfeed.org/version/1.1\",\"authors\":[{\"name\":\"A\"}],\"items\":[\(items)],\"title\":\"T\"}"
      case .rssJSON: "{\"rss\":{\"version\":\"2.0\",\"channel\":{\"title\":\"T\",\"item\":[\(items)]}}}"
      case .caseStudy:
        String(decoding: FeedPayload.bytes(of: (0..<count).map { makeImage($0) }), as: UTF8.self)
      }
    }

    private func item(_ number: Int) -> String {
      let image = "https://a/\(number).png"
      let enclosure = "<enclosure url=\"\(image)\" type=\"image/png\" length=\"1\"/>"
      return switch self {
      case .rss, .rdf, .bare:
        "<item><title>One &amp; two</title><guid>\(number)</guid><description><![CDATA[<b>x</b>]]></description>\(enclosure)</item>"
      case .atom:
        "<entry><id>\(number)</id><title>T</title><link rel=\"enclosure\" type=\"image/png\" href=\"\(image)\"/></entry>"
      case .cdf: "<item href=\"https://a/\(number)\"><title>T</title>\(enclosure)</item>"
      case .jsonFeed: "{\"id\":\"\(number)\",\"content_text\":\"T, \\\"]}\",\"image\":\"\(image)\"}"
      case .rssJSON:
        "{\"guid\":\"\(number)\",\"title\":\"T\",\"enclosure\":{\"url\":\"\(image)\",\"type\":\"image/png\"}}"
      case .caseStudy: ""
      }
    }
  }

  private let saved = makeFeed(4, from: 50)

  private func world(_ body: some StringProtocol, saving feed: CachedFeed? = nil) throws -> any World {
    let world = WorldKind.virtual.make()
    if let feed { try world.save(feed) }
    world.serve(Answer(body: String(body)))
    return world
  }

  @Test(arguments: Form.allCases)
  func `a truncated feed never replaces the saved one, which is shown`(form: Form) throws {
    let document = form.document()
    let whole = try world(document, saving: saved)
    #expect(whole.outcome(of: whole.loader().load()).values.map { $0.images.count } == [3])
    // An end tag without its final bracket still counts as one.
    for count in 1..<(document.utf8.count - 1) {
      let world = try world(document.prefix(count), saving: saved)
      let outcome = world.outcome(of: world.loader().load())
      guard outcome.values.map(\.images) == [saved.images], outcome.values[0].source.isRemote == false,
        try world.savedFeed() == saved
      else {
        Issue.record("\(document.prefix(count)) led to \(outcome)")
        return
      }
    }
  }

  @Test(arguments: Form.allCases)
  func `without a saved feed, a truncated feed is shown as a part or not at all, and isn't saved`(form: Form) throws {
    let document = form.document()
    var counts: Set<Int> = []
    for count in 1..<(document.utf8.count - 1) {
      let world = try world(document.prefix(count))
      let outcome = world.outcome(of: world.loader().load())
      for feed in outcome.values {
        counts.insert(feed.images.count)
        #expect(feed.source == .part(reason: .invalidData(.cutOff(feed.images))))
      }
      #expect(outcome.values.count == (outcome.failure == nil ? 1 : 0))
      #expect(try world.savedFeed() == nil, "\(document.prefix(count))")
    }
    switch form {
    // These formats are read completely or not at all.
    case .caseStudy, .rssJSON: #expect(counts.isEmpty)
    // Without an item, the document isn't recognized as a JSON Feed.
    case .jsonFeed: #expect(counts == [1, 2, 3])
    default: #expect(counts == [0, 1, 2, 3])
    }
  }

  @Test(arguments: [Form.rss, .atom, .jsonFeed])
  func `a large feed that is truncated while it is read is a part too`(form: Form) throws {
    let document = form.document(2_000)
    for count in [20_000, 100_000, document.utf8.count - 2] {
      let world = try world(document.prefix(count), saving: saved)
      let outcome = world.outcome(of: world.loader().load())
      #expect(outcome.values.map(\.images) == [saved.images])
      guard case .cache(_, _, .invalidData(.cutOff(let part)))? = outcome.values.first?.source else {
        Issue.record("\(outcome.values.map(\.source))")
        continue
      }
      #expect(part.count > 50 && part.count <= 2_000)
      #expect(try world.savedFeed() == saved)
    }
  }

  @Test func `truncation after the end of the feed is ignored`() throws {
    let world = try world(Form.rss.document() + "\n<!-- made in 0.2 s by <some")
    #expect(world.outcome(of: world.loader().load()).values.map(\.source) == [.remote])
    #expect(try world.savedFeed()?.images.count == 3)
  }

  @Test func `the error of a part says that the response is cut off`() throws {
    let document = Form.rss.document()
    let world = try world(document.dropLast(8))
    guard case .part(let reason)? = world.outcome(of: world.loader().load()).values.first?.source else {
      Issue.record("it is not a part")
      return
    }
    #expect("\(reason)" == "The server's response is cut off: its end is missing after 3 images.")
    #expect(reason.isWorthRetrying)
  }

  @Test func `a part replaces an expired feed, and is shown if only connectivity errors may fall back`() throws {
    let document = Form.rss.document().dropLast(8)
    let old = try world(document, saving: saved)
    old.clock.now += 8 * 86_400
    #expect(old.outcome(of: old.loader().load()).values.map(\.source.isPart) == [true])
    let fresh = try world(document, saving: saved)
    let outcome = fresh.outcome(of: fresh.loader { $0.fallback = .connectivity }.load())
    #expect(outcome.values.map(\.images) == [saved.images])
  }

  @Test func `every read mode keeps the saved feed when the response is truncated`() throws {
    let document = Form.rss.document().dropLast(8)
    for mode in [
      ReadMode.networkFirst, .staleWhileRevalidate, .cacheFirst, .networkOnly, .minimumInterval(.seconds(9)),
    ] {
      let world = try world(document, saving: saved)
      world.clock.now += 60
      let outcome = world.outcome(of: world.loader().load(mode))
      if mode == .networkOnly {
        #expect(outcome.values.map(\.source.isPart) == [true])
      } else {
        #expect(outcome.values.map(\.images) == [saved.images])
      }
      #expect((outcome.failure != nil) == (mode == .staleWhileRevalidate))
      #expect(try world.savedFeed() == saved)

      let empty = try self.world(document)
      let part = empty.outcome(of: empty.loader().load(mode))
      #expect(part.values.map(\.source.isPart) == [true] && part.isFinished, "\(mode)")
      #expect(try empty.savedFeed() == nil)
    }
  }

  @Test func `LoadState keeps the shown feed with the error, or shows the part with it`() throws {
    let document = Form.rss.document().dropLast(8)
    let button = PassthroughSubject<Void, Never>()
    func states(of world: any World) -> [LoadState<FeedImages>] {
      var states: [LoadState<FeedImages>] = []
      let subscription = world.loader().states(refreshedBy: button.eraseToAnyPublisher()).sink { states.append($0) }
      world.run()
      button.send(())
      world.run()
      subscription.cancel()
      return states
    }
    let full = states(of: try world(document, saving: saved))
    #expect(full.last?.shown?.images == saved.images && full.last?.error != nil)
    let empty = states(of: try world(document))
    #expect(empty.last?.shown?.source.isPart == true && empty.last?.shown?.images.count == 3)
    guard case .failed(let error, _)? = empty.last, case .invalidData(.cutOff) = error.remote else {
      Issue.record("\(empty)")
      return
    }
  }

  @Test func `updates delivers the same part once`() throws {
    let world = try world(Form.rss.document().dropLast(8))
    let time = try #require(world.scheduler as? VirtualTimeScheduler)
    var results: [FeedResult] = []
    let subscription = world.loader().updates(every: .seconds(60)).sink { results.append($0) }
    time.advance(by: 200)
    subscription.cancel()
    #expect(results.count == 1 && (try? results[0].get().source.isPart) == true)
    #expect(world.requests == 4)
  }

  @Test func `a retry can deliver the complete feed`() throws {
    let time = VirtualTimeScheduler()
    let network = VirtualNetwork(on: time)
    let document = Form.atom.document()
    network.serve("example.com") { request, _ in .answer(Data(document.utf8.dropLast(request.number == 0 ? 9 : 0))) }
    let store = InMemoryFeedStore()
    var options = FeedLoader.Options()
    options.retry = .immediate(limit: 1)
    var feeds: [Feed] = []
    let subscription = FeedLoader(
      address, client: network, cache: FeedCache(store: store, on: time, now: { noon }), on: time, options: options
    )
    .load().sink { _ in
    } receiveValue: {
      feeds.append($0)
    }
    time.run()
    subscription.cancel()
    #expect(feeds.map(\.source) == [.remote])
    #expect(try store.retrieve(for: address)?.images.count == 3)
  }

  /// Loads pages of two images each, one of which is cut off.
  private func pages(cutting number: Int, saved: CachedFeed? = nil) throws -> (sources: [String], saved: Int?) {
    let time = VirtualTimeScheduler()
    let network = VirtualNetwork(on: time)
    network.serve("example.com") { request, _ in
      let page = Int(request.request.url.query() ?? "") ?? 0
      let items = [2 * page, 2 * page + 1].map { "{\"id\":\"\($0)\",\"image\":\"https://a/\($0).png\"}" }
      let text =
        "{\"version\":\"https://jsonfeed.org/version/1.1\",\"next_url\":\"https://example.com/feed?\(page + 1)\",\"items\":["
        + items.joined(separator: ",") + "]}"
      return .answer(Data(text.utf8.dropLast(page == number ? 4 : 0)))
    }
    let store = InMemoryFeedStore()
    if let saved { try store.replace(for: address, with: saved) }
    var sources: [String] = []
    let subscription = FeedLoader(
      address, client: network, cache: FeedCache(store: store, on: time, now: { noon }), on: time
    )
    .pages().sink {
      sources.append("\($0)")
    } receiveValue: {
      sources.append("\($0.images.count) \($0.source.isRemote ? "remote" : $0.source.isPart ? "part" : "saved")")
    }
    time.run()
    subscription.cancel()
    return (sources, try store.retrieve(for: address)?.images.count)
  }

  @Test func `a truncated page is the last one and isn't saved`() throws {
    let second = try pages(cutting: 1)
    #expect(second.sources == ["2 remote", "1 part", "finished"] && second.saved == 2)
    let first = try pages(cutting: 0)
    #expect(first.sources == ["1 part", "finished"] && first.saved == nil)
    let known = try pages(cutting: 0, saved: saved)
    #expect(known.sources == ["4 saved", "finished"] && known.saved == 4)
  }

  @Test func `polling shows a part and counts a failure, until the complete feed arrives`() throws {
    let time = VirtualTimeScheduler()
    let network = VirtualNetwork(on: time)
    let document = Form.rss.document()
    network.serve("example.com") { request, _ in .answer(Data(document.utf8.dropLast(request.number < 2 ? 9 : 0))) }
    let store = InMemoryFeedStore()
    let clock = Clock(time)
    var decisions: [PollDecision] = []
    var options = FeedPoller.Options()
    options.onDecision = { decisions.append($1) }
    let poller = FeedPoller(
      [PolledAddress(address, every: .seconds(60))], client: network,
      cache: FeedCache(store: store, on: time, now: { clock.now }), store: store, on: time, options: options)
    var kinds: [String] = []
    let subscription = poller.sink { polled in
      kinds.append(
        (try? polled.result.get().source).map { $0.isRemote ? "remote" : $0.isPart ? "part" : "saved" } ?? "none")
    }
    while decisions.count < 2 { time.advance(by: 60) }
    #expect(try kinds == ["part"] && store.health(of: [address])[0]?.failures == 2)
    #expect(try store.retrieve(for: address) == nil)
    while decisions.count < 3 { time.advance(by: 60) }
    #expect(try kinds == ["part", "remote"] && store.health(of: [address])[0]?.failures == 0)
    #expect(try store.retrieve(for: address)?.images.count == 3)
    #expect(decisions[0].outcome == "The server's response is cut off: its end is missing after 3 images.")
    subscription.cancel()
  }

  /// The wall clock of virtual time.
  // @unchecked: used only on the test's thread.
  private final class Clock: @unchecked Sendable {
    private let time: VirtualTimeScheduler
    init(_ time: VirtualTimeScheduler) { self.time = time }
    var now: Date { noon + Double(time.now.nanoseconds) / 1e9 }
  }

  @Test func `a custom format can deliver a part too`() throws {
    struct Lines: FeedFormat {
      func recognizes(_ document: WebDocument) -> Bool { true }
      func images(of document: WebDocument, within limits: FeedLimits) throws(InvalidData) -> FeedImages {
        throw .cutOff([makeImage(1)])
      }
    }
    let world = try world("x")
    let outcome = world.outcome(of: world.loader { $0.formats = [Lines()] }.load())
    #expect(
      outcome.values == [Feed(images: [makeImage(1)], source: .part(reason: .invalidData(.cutOff([makeImage(1)]))))])
  }
}
