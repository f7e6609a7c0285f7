import FeedHTTP
import FeedStream
import FeedStreamTesting
import Foundation
import ImageFeed
import ImageFeedTesting
import TestSupport
import Testing

@testable import FeedPolling

/// Hosts that are requested because of redirects and links, and reservations that several pollers make.
@Suite(.settled) struct ReservedHostTests {
  /// A network and a store for several pollers.
  private final class Place {
    let time = VirtualTimeScheduler()
    let network: VirtualNetwork
    let store: VirtualDisk
    let clock: Clock
    /// The seconds that a feed's response takes.
    var latency = 3
    /// The time at which the server of all feeds refuses a request, and what it says then.
    var refusal: (from: Double, headers: HTTPHeaders)?
    private(set) var refused: [Double] = []

    init() {
      network = VirtualNetwork(on: time)
      store = VirtualDisk(on: time)
      clock = Clock(time)
      time.offloadLatency = .milliseconds(1)
      network.serve("new.example") { [unowned self] _, _ in
        if let refusal, clock.seconds >= refusal.from, refused.isEmpty {
          refused.append(clock.seconds)
          return .answer(status: 429, headers: refusal.headers, Data())
        }
        return .answer(
          headers: [("ETag", "\"1\"")], FeedPayload.bytes(of: makeFeed(1).images), after: .seconds(latency))
      }
    }

    /// Makes hosts redirect to one host.
    func redirect(_ hosts: [String], status: Int) {
      for (index, host) in hosts.enumerated() {
        network.serve(host) { _, _ in
          .answer(status: status, headers: [("Location", "https://new.example/\(index)")], Data())
        }
      }
    }

    func poller(_ addresses: [String], every interval: Duration = .seconds(3600)) -> FeedPoller {
      let clock = clock
      var options = FeedPoller.Options()
      options.seed = 7
      return FeedPoller(
        addresses.map { PolledAddress(URL(string: $0)!, every: interval) }, client: network,
        cache: FeedCache(store: store, on: time, now: { clock.now }), store: store, on: time, options: options)
    }

    func health(_ address: String) throws -> FeedHealth? { try store.health(of: [URL(string: address)!])[0] }

    func requests(to host: String) -> [VirtualExchange] { network.log.filter { $0.request.url.host() == host } }

    /// The shortest time from the end of a request to a host until the beginning of the next one, in seconds; negative
    /// if two requests ran together.
    func shortestGap(of host: String) -> Double {
      let own = requests(to: host)
      return zip(own, own.dropFirst()).map { first, second in
        first.ended.map { $0.distance(to: second.sent).seconds } ?? -1
      }.min() ?? .infinity
    }
  }

  private final class Clock: Sendable {
    private let time: VirtualTimeScheduler

    init(_ time: VirtualTimeScheduler) { self.time = time }

    var seconds: Double { Double(time.now.nanoseconds) / 1e9 }
    var now: Date { noon + seconds }
  }

  private static let olds = (0..<6).map { "old\($0).example" }
  private static let oldFeeds = olds.map { "https://\($0)/feed" }

  @Test(arguments: [301, 302])
  func `a host that others redirect to gets one request at a time, with gaps, even after a move is believed`(
    status: Int
  ) throws {
    let place = Place()
    place.redirect(Self.olds, status: status)
    let process = place.poller(Self.oldFeeds).sink { _ in }
    place.time.advance(by: .seconds(7.5 * 86_400))
    #expect(place.shortestGap(of: "new.example") >= 1)
    place.network.clearLog()
    place.time.advance(by: .seconds(86_400))
    #expect(place.shortestGap(of: "new.example") >= 1)
    #expect(place.requests(to: "new.example").count > 100)
    #expect(place.requests(to: "old0.example").isEmpty == (status == 301))
    // The client doesn't wait for the bodies of redirects.
    #expect(place.network.log.allSatisfy { !$0.request.followsRedirects && $0.request.skipsRedirectBodies })
    #expect(try place.health(Self.oldFeeds[0])?.move?.isBelieved ?? false == (status == 301))
    process.cancel()
  }

  @Test(arguments: zip([0.5, 8], [302, 301]))
  func `a refusal pauses the host that it came from, not the host that redirected`(day: Double, status: Int) throws {
    let place = Place()
    place.redirect(Self.olds, status: status)
    place.refusal = (day * 86_400, [("Retry-After", "7200")])
    let process = place.poller(Self.oldFeeds).sink { _ in }
    place.time.advance(by: .seconds(day * 86_400 + 3 * 3600))
    let refused = try #require(place.refused.first)
    let later = place.requests(to: "new.example").map { Double($0.sent.nanoseconds) / 1e9 }.filter { $0 > refused }
    #expect(try #require(later.first) >= refused + 7200)
    let paused = try place.store.health(ofHost: "new.example")?.pausedUntil
    #expect(try abs(#require(paused).timeIntervalSince(noon + refused + 7200)) < 5)
    #expect(try Self.olds.allSatisfy { try place.store.health(ofHost: $0)?.pausedUntil == nil })
    process.cancel()
  }

  @Test func `a page and the feed that it links to are requested under one reservation`() {
    let place = Place()
    let page = "<html><head><link rel='alternate' type='application/rss+xml' href='/feed'></head></html>"
    place.network.serve("example.com") { request, _ in
      request.request.url.path() == "/"
        ? .answer(headers: [("Content-Type", "text/html")], Data(page.utf8), after: .seconds(25))
        : .answer(FeedPayload.bytes(of: makeFeed(1).images), after: .seconds(25))
    }
    let process = place.poller(["https://example.com/"]).sink { _ in }
    place.time.advance(by: .seconds(1))
    let other = place.poller(["https://example.com/other"]).sink { _ in }
    place.time.advance(by: .seconds(200))
    #expect(place.requests(to: "example.com").map { $0.request.url.path() } == ["/", "/feed", "/other"])
    #expect(place.shortestGap(of: "example.com") >= 0)
    process.cancel()
    other.cancel()
  }

  @Test func `many feeds that redirect to one host at once are all loaded, one after another`() {
    let place = Place()
    place.latency = 0
    let hosts = (0..<40).map { "old\($0).example" }
    place.redirect(hosts, status: 302)
    let recorder = place.poller(hosts.map { "https://\($0)/feed" }).record(on: place.time)
    place.time.advance(by: .seconds(59))
    #expect(recorder.values.count == 40 && recorder.values.allSatisfy { (try? $0.result.get()) != nil })
    #expect(place.shortestGap(of: "new.example") >= 1)
    recorder.cancel()
  }

  @Test func `a host that is visited is requested again soon after the visit, not after the reservation`() {
    let place = Place()
    place.redirect(Self.olds, status: 302)
    let process = place.poller([Self.oldFeeds[0], "https://new.example/a", "https://new.example/b"]).sink { _ in }
    place.time.advance(by: .seconds(20))
    #expect(place.requests(to: "new.example").count == 3)
    #expect(place.shortestGap(of: "new.example") >= 1)
    process.cancel()
  }

  @Test func `a cancelled poll doesn't free a host that another has reserved`() {
    let place = Place()
    place.latency = 20
    let first = place.poller(["https://new.example/a"]).sink { _ in }
    place.time.advance(by: .seconds(2))
    let cancelled = place.poller(["https://new.example/b"]).sink { _ in }
    place.time.advance(by: .microseconds(1500))
    cancelled.cancel()
    place.time.advance(by: .seconds(3))
    let last = place.poller(["https://new.example/c"]).sink { _ in }
    place.time.advance(by: .seconds(200))
    #expect(place.requests(to: "new.example").count == 2)
    #expect(place.shortestGap(of: "new.example") >= 1)
    first.cancel()
    last.cancel()
  }

  @Test func `a cancelled poll frees the hosts that it has visited`() throws {
    let place = Place()
    place.redirect(Self.olds, status: 302)
    place.latency = 20
    let process = place.poller([Self.oldFeeds[0]]).sink { _ in }
    place.time.advance(by: .seconds(2))
    process.cancel()
    place.time.advance(by: .seconds(1))
    let host = try #require(try place.store.health(ofHost: "new.example"))
    #expect(host.opens <= place.clock.now)
  }

  @Test func `feeds whose hosts redirect to each other are both loaded`() {
    let place = Place()
    for (host, other) in [("a.example", "b.example"), ("b.example", "a.example")] {
      place.network.serve(host) { request, _ in
        request.request.url.path() == "/feed"
          ? .answer(status: 302, headers: [("Location", "https://\(other)/real")], Data())
          : .answer(FeedPayload.bytes(of: makeFeed(1).images))
      }
    }
    let recorder = place.poller(["https://a.example/feed", "https://b.example/feed"]).record(on: place.time)
    place.time.advance(by: .seconds(20))
    #expect(recorder.values.count == 2 && recorder.values.allSatisfy { (try? $0.result.get()) != nil })
    #expect(place.shortestGap(of: "a.example") >= 1 && place.shortestGap(of: "b.example") >= 1)
    recorder.cancel()
  }

  @Test func `a poll that waits for a host has freed its own, and reserves it again for a redirect back`() throws {
    let place = Place()
    place.network.serve("a.example") { request, _ in
      request.request.url.path() == "/feed"
        ? .answer(status: 302, headers: [("Location", "https://b.example/")], Data())
        : .answer(FeedPayload.bytes(of: makeFeed(1).images), after: .seconds(10))
    }
    place.network.serve("b.example") { _, _ in
      .answer(status: 302, headers: [("Location", "https://a.example/real")], Data())
    }
    _ = place.store.carryOut([.visit(HostVisit(host: "b.example", now: noon, lease: .seconds(20)))])
    let recorder = place.poller(["https://a.example/feed"]).record(on: place.time)
    place.time.advance(by: .seconds(5))
    #expect(try #require(try place.store.health(ofHost: "a.example")).opens <= place.clock.now)
    place.time.advance(by: .seconds(20))
    #expect(try #require(try place.store.health(ofHost: "a.example")).opens > noon + 30)
    place.time.advance(by: .seconds(20))
    #expect(try #require(try place.store.health(ofHost: "a.example")).opens <= place.clock.now)
    #expect(recorder.values.count == 1 && recorder.values.allSatisfy { (try? $0.result.get()) != nil })
    recorder.cancel()
  }

  @Test func `a cancelled poll doesn't close a host again that it has freed already`() throws {
    let place = Place()
    place.redirect(["a.example"], status: 302)
    _ = place.store.carryOut([.visit(HostVisit(host: "new.example", now: noon, lease: .seconds(20)))])
    let process = place.poller(["https://a.example/feed"]).sink { _ in }
    place.time.advance(by: .seconds(10))
    process.cancel()
    place.time.advance(by: .milliseconds(100))
    #expect(try #require(try place.store.health(ofHost: "a.example")).opens < noon + 3)
  }

  @Test func `a poll that waits for a host keeps its own one if that rests for long`() {
    let place = Place()
    place.network.serve("a.example") { request, _ in
      request.request.url.path() == "/feed"
        ? .answer(status: 302, headers: [("Location", "https://b.example/")], Data())
        : .answer(FeedPayload.bytes(of: makeFeed(1).images))
    }
    place.network.serve("b.example") { _, _ in
      .answer(status: 302, headers: [("Location", "https://a.example/real")], Data())
    }
    var (host, pace) = (HostHealth(name: "a.example"), HostPace())
    (pace.gap, pace.refusals) = (600, 3)
    host.pace = pace
    place.store.save(host)
    _ = place.store.carryOut([.visit(HostVisit(host: "b.example", now: noon, lease: .seconds(20)))])
    let recorder = place.poller(["https://a.example/feed"]).record(on: place.time)
    place.time.advance(by: .seconds(40))
    #expect(recorder.values.count == 1 && recorder.values.allSatisfy { (try? $0.result.get()) != nil })
    #expect(place.requests(to: "a.example").count == 2)
    recorder.cancel()
  }

  @Test func `after a cancelled poll, the next poller doesn't wait for its result, and polls after the interval`() {
    let place = Place()
    place.latency = 20
    let first = place.poller(["https://new.example/a"], every: .seconds(60)).sink { _ in }
    place.time.advance(by: .seconds(2))
    first.cancel()
    place.time.advance(by: .milliseconds(10))
    let second = place.poller(["https://new.example/a"], every: .seconds(60)).record(on: place.time)
    place.time.advance(by: .seconds(5))
    #expect(second.values.count == 1 && place.requests(to: "new.example").count == 1)
    place.time.advance(by: .seconds(60))
    #expect(place.requests(to: "new.example").count == 2)
    second.cancel()
  }

  @Test func `a poller doesn't wait for another's result after the feed is due`() {
    let place = Place()
    let address = URL(string: "https://new.example/a")!
    // The other process was killed, and its host was reserved again since.
    let claim = PollClaim(
      feed: FeedHealth(address: address), host: "new.example", now: noon, lease: .seconds(30), dueIfLost: noon + 60)
    var host = HostHealth(name: "new.example")
    host.next = noon + 1
    _ = place.store.carryOut([
      .claim(claim), .release(HostRelease(host, reserved: claim.reserved, ended: noon)),
    ])
    place.time.advance(by: .seconds(2))
    let recorder = place.poller([address.absoluteString], every: .seconds(60)).record(on: place.time)
    place.time.advance(by: .seconds(56))
    #expect(recorder.values.isEmpty && place.requests(to: "new.example").isEmpty)
    place.time.advance(by: .seconds(10))
    #expect(place.requests(to: "new.example").count == 1)
    recorder.cancel()
  }

  @Test func `two pollers poll a feed at its interval, even if a response takes longer than that`() {
    let place = Place()
    place.latency = 15
    let first = place.poller(["https://new.example/a"], every: .seconds(10)).record(on: place.time)
    place.time.advance(by: .seconds(1))
    let second = place.poller(["https://new.example/a"], every: .seconds(10)).record(on: place.time)
    place.time.advance(by: .seconds(300))
    #expect(place.shortestGap(of: "new.example") >= 9.9, "the interval begins with the response")
    #expect(place.requests(to: "new.example").count >= 10)
    for recorder in [first, second] {
      #expect(recorder.values.last.map { (try? $0.result.get()) != nil } == true)
      recorder.cancel()
    }
  }

  @Test func `a poll doesn't wait for a host that rests for longer, and is due when that host opens`() throws {
    let place = Place()
    place.redirect(Self.olds, status: 302)
    var (host, pace) = (HostHealth(name: "new.example"), HostPace())
    (pace.gap, pace.refusals) = (600, 3)
    (host.pace, host.next) = (pace, noon + 600)
    place.store.save(host)
    let recorder = place.poller([Self.oldFeeds[0]], every: .seconds(60)).record(on: place.time)
    place.time.advance(by: .seconds(5))
    #expect(recorder.values.count == 1)
    let decision = try #require(try place.store.decisions(for: URL(string: Self.oldFeeds[0])!).last)
    #expect(decision.outcome.contains("new.example gets one request every 10 minutes"))
    #expect((600...670).contains(try #require(decision.due).timeIntervalSince(noon)))
    place.time.advance(by: .seconds(700))
    #expect(recorder.values.last.map { (try? $0.result.get()) != nil } == true)
    recorder.cancel()
  }

  @Test func `a host is freed soon after the store has failed at the end of a poll`() {
    let place = Place()
    let process = place.poller(["https://new.example/a", "https://new.example/b"]).sink { _ in }
    place.time.advance(by: .seconds(2))
    place.store.setFaults { _, _ in .fail(.busy) }
    place.time.advance(by: .seconds(1.5))
    place.store.setFaults { _, _ in nil }
    place.time.advance(by: .seconds(10))
    #expect(place.requests(to: "new.example").count == 2)
    process.cancel()
  }

  @Test func `a poller that is cancelled frees a host that it couldn't free before, because the store failed`() throws {
    let place = Place()
    let process = place.poller(["https://new.example/a"]).sink { _ in }
    place.time.advance(by: .seconds(2))
    place.store.setFaults { _, _ in .fail(.busy) }
    place.time.advance(by: .seconds(1.5))
    place.store.setFaults { _, _ in nil }
    #expect(try #require(try place.store.health(ofHost: "new.example")).opens > noon + 60)
    process.cancel()
    place.time.advance(by: .seconds(2))
    #expect(try #require(try place.store.health(ofHost: "new.example")).opens <= place.clock.now)
  }

  @Test func `a poller shows another's result, even if that poll waited for a host first`() {
    let place = Place()
    place.redirect(Self.olds, status: 302)
    _ = place.store.carryOut([.visit(HostVisit(host: "new.example", now: noon, lease: .seconds(50)))])
    let first = place.poller([Self.oldFeeds[0]]).record(on: place.time)
    place.time.advance(by: .seconds(1))
    let second = place.poller([Self.oldFeeds[0]]).record(on: place.time)
    place.time.advance(by: .seconds(58))
    for recorder in [first, second] {
      #expect(recorder.values.last.map { (try? $0.result.get()) != nil } == true)
      recorder.cancel()
    }
    #expect(place.requests(to: "new.example").count == 1)
  }

  @Test func `a quota that is stated once slows its host only until its window ends`() {
    let place = Place()
    place.network.serve("example.com") { request, _ in
      .answer(
        headers: request.number == 0
          ? [("RateLimit", "\"d\";r=1;t=600"), ("RateLimit-Policy", "\"d\";q=100;w=3600")] : [],
        FeedPayload.bytes(of: makeFeed(1).images))
    }
    let process = place.poller((0..<12).map { "https://example.com/\($0)" }, every: .seconds(86_400)).sink { _ in }
    place.time.advance(by: .seconds(1300))
    #expect(place.network.log.count == 12)
    process.cancel()
  }

  @Test func `while a saved feed is being shown, no more feeds are requested than results`() {
    let place = Place()
    place.poller(["https://new.example/a"]).sink { _ in }.cancelled(after: 100, on: place.time)
    place.network.clearLog()
    place.network.serve("two.example") { _, _ in .answer(FeedPayload.bytes(of: makeFeed(1).images)) }
    let recorder = place.poller(["https://new.example/a", "https://two.example/b"]).record(
      on: place.time, demand: .none)
    recorder.request(.max(1))
    place.time.advance(by: .seconds(100))
    #expect(recorder.values.count == 1 && place.network.log.isEmpty)
    recorder.cancel()
  }

  @Test func `a server with validators gets one unconditional request per day, even if nothing stays saved`() throws {
    let place = Place()
    let address = URL(string: "https://new.example/a")!
    let process = place.poller([address.absoluteString]).sink { _ in }
    for _ in 0..<8 {
      place.time.advance(by: .seconds(1800))
      if let saved = try place.store.retrieve(for: address) {
        // A validation deletes an expired feed in this way, which leaves its polling state.
        #expect(try place.store.delete(for: address, if: .timestamp(saved.timestamp)))
      }
      place.time.advance(by: .seconds(1800))
    }
    #expect(place.network.log.count == 1)
    let health = try #require(try place.health(address.absoluteString))
    #expect(health.rule == .wholeDaily && health.due.map { $0 > noon + 86_000 } == true, "other processes know it")
    process.cancel()
  }
}

extension AnyCancellable {
  /// Cancels after some seconds of virtual time.
  fileprivate func cancelled(after seconds: Int, on time: VirtualTimeScheduler) {
    time.advance(by: .seconds(seconds))
    cancel()
  }
}

extension PollStore {
  /// Saves a host's state, as the completion of a poll does.
  func save(_ host: HostHealth) {
    let lease = PollLease(
      feed: FeedHealth(address: URL(string: "https://\(host.name)/known")!), host: host.name,
      saved: FeedValidators(), since: nil)
    let decision = PollDecision(time: noon, request: "", outcome: "", due: nil, rule: .interval, reason: "")
    let completion = PollCompletion(of: lease, nil, now: noon) { _ in
      PollRecord(feed: lease.feed, host: host, decision: decision, outcome: .unchanged)
    }
    _ = carryOut([.completion(completion)])
  }
}
