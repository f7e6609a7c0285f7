import FeedPolling
import FeedStream
import FeedStreamTesting
import Foundation
import ImageFeed
import ImageFeedTesting
import TestSupport
import Testing

/// Polling on a virtual network, in virtual time, with a store that outlives its process.
@Suite(.settled) struct FeedPollerTests {
  /// A network, a store, and the process that polls.
  private final class Place {
    let time = VirtualTimeScheduler()
    let network: VirtualNetwork
    var disk: VirtualDisk
    var results: [FeedReport] = []
    var decisions: [PollDecision] = []
    var progress: [PollingProgress] = []
    var pauses: [String: HostPause] = [:]
    var isFinished = false
    private var process: AnyCancellable?
    private var other: AnyCancellable?

    init() {
      network = VirtualNetwork(on: time)
      disk = VirtualDisk(on: time)
      time.offloadLatency = .milliseconds(1)
    }

    var wall: Date { noon + Double(time.now.nanoseconds) / 1e9 }

    func start(_ addresses: [String] = ["https://example.com/feed"], every interval: Duration? = .seconds(3600)) {
      let clock = Clock(time)
      let cache = FeedCache(store: disk, on: time, now: { clock.now })
      var options = FeedPoller.Options()
      options.seed = 7
      options.onDecision = { [unowned self] _, decision in decisions.append(decision) }
      options.onProgress = { [unowned self] in progress.append($0) }
      options.onPause = { [unowned self] in pauses[$0] = $1 }
      let poller = FeedPoller(
        addresses.map { PolledAddress(URL(string: $0)!, every: interval) }, client: network, cache: cache, store: disk,
        on: time, options: options)
      process = poller.sink { [unowned self] _ in
        isFinished = true
      } receiveValue: { [unowned self] in
        results.append($0)
      }
    }

    func stop() { (process, other) = (nil, nil) }

    /// Starts another poller next to the running one.
    func startAnother() {
      other = process
      start()
    }

    /// Ends the process at any point of its work.
    func kill() {
      disk.crash()
      process = nil
      disk = disk.restarted()
    }

    /// The seconds at which requests were sent.
    var times: [Int] { network.log.map { Int($0.sent.nanoseconds / 1_000_000_000) } }
    var gaps: [Int] { zip(times.dropFirst(), times).map { $0 - $1 } }

    private final class Clock: Sendable {
      let time: VirtualTimeScheduler
      init(_ time: VirtualTimeScheduler) { self.time = time }
      var now: Date { noon + Double(time.now.nanoseconds) / 1e9 }
    }
  }

  private static let images = makeFeed(3).images
  private static let body = FeedPayload.bytes(of: images)
  private static func feed(_ headers: HTTPHeaders = [("ETag", "\"1\"")]) -> VirtualReply {
    .answer(headers: headers, body)
  }
  private static func polite(_ request: VirtualRequest) -> VirtualReply {
    request.request.headers.isEmpty ? feed() : .answer(status: 304, Data())
  }

  @Test func `an unchanged feed is shown once, and requested conditionally every hour`() {
    let place = Place()
    place.network.serve("example.com") { request, _ in Self.polite(request) }
    place.start()
    place.time.advance(by: .seconds(24 * 3600))
    #expect(place.results.map { try? $0.result.get().images } == [Self.images])
    #expect(place.gaps.allSatisfy { (3600...3961).contains($0) } && Set(place.gaps).count > 10)
    #expect(place.network.log.filter(\.request.headers.isEmpty).count == 1)
    #expect(
      place.decisions.first?.request == "the whole feed" && place.decisions.last?.outcome == "status 304, not changed")
    place.stop()
  }

  @Test func `a 200 with the same bytes isn't a change`() {
    let place = Place()
    place.network.serve("example.com") { _, _ in Self.feed([]) }
    place.start()
    place.time.advance(by: .seconds(3 * 3600))
    #expect(
      place.decisions.prefix(2).map(\.outcome) == ["status 200, changed, 3 images", "status 200, not changed"])
    #expect(place.results.count == 1)
    place.stop()
  }

  @Test func `an unchanged feed is renewed without being read, unless another was saved meanwhile`() throws {
    let place = Place()
    place.network.serve("example.com") { request, _ in Self.polite(request) }
    place.start()
    place.time.advance(by: .seconds(2 * 3600))
    func reads() -> Int {
      place.disk.log.count { if case .retrieve = $0.call { true } else { false } }
    }
    let before = reads()
    place.time.advance(by: .seconds(10 * 3600))
    #expect(place.decisions.count > 9 && reads() == before)
    let url = URL(string: "https://example.com/feed")!
    let saved = try #require(try place.disk.retrieve(for: url))
    #expect(place.wall.timeIntervalSince(saved.timestamp) < 4000)
    // Another process saves a newer feed while this one waits for its response.
    let newer = CachedFeed(
      images: makeFeed(5).images, timestamp: saved.timestamp + 10, validators: FeedValidators(etag: "\"1\""))
    place.network.serve("example.com") { request, _ in
      _ = try? place.disk.replace(for: url, with: newer, now: newer.timestamp)
      return Self.polite(request)
    }
    place.time.advance(by: .seconds(3961))
    #expect(try place.results.last?.result.get().images == newer.images)
    place.stop()
  }

  @Test func `a moved feed's URL can't lead into a private network unless the redirect came from one`() {
    let place = Place()
    place.network.serve("example.com") { _, _ in
      .answer(status: 301, headers: [("Location", "https://moved.example/feed")], Data())
    }
    place.network.serve("moved.example") { request, _ in Self.polite(request) }
    place.start()
    place.time.advance(by: .seconds(8 * 86_400))
    let later = place.network.log.suffix(3).map(\.request)
    #expect(later.allSatisfy { $0.url.host() == "moved.example" && $0.originIsPrivate == false })
    place.stop()
  }

  @Test func `a user's own URL may lead into a private network, even after its scheme has changed to https`() {
    let place = Place()
    place.network.serve("example.com") { request, _ in
      request.request.url.scheme == "https"
        ? Self.polite(request)
        : .answer(status: 301, headers: [("Location", "https://example.com/feed")], Data())
    }
    place.start(["http://example.com/feed"])
    place.time.advance(by: .seconds(3 * 3600))
    let later = place.network.log.dropFirst(2).map(\.request)
    #expect(!later.isEmpty && later.allSatisfy { $0.url.scheme == "https" && $0.originIsPrivate == true })
    place.stop()
  }

  @Test func `after a restart, the saved feed is shown, and isn't requested before it is due`() {
    let place = Place()
    place.network.serve("example.com") { request, _ in Self.polite(request) }
    place.start()
    for _ in 0..<20 {
      place.time.advance(by: .seconds(60))
      place.stop()
      place.start()
    }
    place.time.advance(by: .seconds(60))
    #expect(place.times == [0])
    #expect(place.results.count == 21)
    guard case .cache(_, _, .notDue) = try? place.results.last?.result.get().source else {
      Issue.record("\(place.results)")
      return
    }
    place.time.advance(by: .seconds(3600))
    #expect(place.times.count == 2)
    // An unchanged feed is not shown again.
    #expect(place.results.count == 21)
    place.stop()
  }

  @Test(arguments: [0, 5, 50, 90, 3000])
  func `a feed polled by one process is shown by another too, with one request`(milliseconds: Int) {
    let place = Place()
    place.network.serve("example.com") { request, _ in Self.polite(request) }
    place.start()
    place.time.advance(by: .milliseconds(milliseconds))
    place.startAnother()
    place.time.advance(by: .seconds(5))
    #expect(place.times == [0])
    #expect(place.results.count == 2)
    #expect(place.results.allSatisfy { (try? $0.result.get()) != nil }, "\(place.results)")
    place.time.advance(by: .seconds(3 * 3600))
    #expect((3...4).contains(place.times.count), "the hours are shared too")
    place.stop()
  }

  @Test(arguments: [0, 1, 2, 3, 50, 90, 200])
  func `killing a process at any moment of a poll causes no early request`(milliseconds: Int) {
    let place = Place()
    place.network.serve("example.com") { request, _ in Self.polite(request) }
    place.start()
    place.time.advance(by: .milliseconds(milliseconds))
    place.kill()
    place.start()
    place.time.advance(by: .seconds(3599))
    #expect(place.times.count <= 1)
    place.time.advance(by: .seconds(400))
    #expect(place.times.count <= 2 && !place.times.isEmpty)
    place.stop()
  }

  @Test(arguments: [429, 503]) func `a pause applies to all feeds of the host, even after a restart`(status: Int) {
    let place = Place()
    place.network.serve("example.com") { request, _ in
      request.number == 0 ? .answer(status: status, headers: [("Retry-After", "7200")], Data()) : Self.feed()
    }
    place.network.serve("other.com") { _, _ in Self.feed() }
    let addresses = ["https://example.com/1", "https://example.com/2", "https://other.com/"]
    place.start(addresses, every: .seconds(600))
    place.time.advance(by: .seconds(1800))
    place.kill()
    place.start(addresses, every: .seconds(600))
    place.time.advance(by: .seconds(5399))
    let asked = place.network.log.filter { $0.request.url.host() == "example.com" }
    #expect(asked.count == 1)
    #expect(place.network.log.count > 10)
    place.time.advance(by: .seconds(1000))
    #expect(place.network.log.contains { $0.request.url.path() == "/2" })
    place.stop()
  }

  @Test func `while a host is paused, its due feeds are shown as saved, with the reason`() {
    let place = Place()
    place.network.serve("example.com") { request, _ in
      request.request.url.path() == "/busy"
        ? .answer(status: 429, headers: [("Retry-After", "7200")], Data()) : Self.feed()
    }
    for path in ["1", "busy"] {
      place.start(["https://example.com/\(path)"], every: .seconds(600))
      place.time.advance(by: .seconds(500))
      place.stop()
    }
    #expect(place.pauses.isEmpty, "no other feed waited")
    place.results = []
    place.start(["https://example.com/1", "https://example.com/2"], every: .seconds(600))
    place.time.advance(by: .seconds(60))
    let reasons = place.results.map { report -> String in
      switch report.result {
      case .success(let feed): if case .cache(_, _, let reason) = feed.source { "\(reason)" } else { "" }
      case .failure(let error): "\(error)"
      }
    }
    #expect(reasons.count == 2)
    for reason in reasons { #expect(reason.contains("example.com is paused: the server requests a pause")) }
    #expect(place.results.compactMap(\.feed).map(\.images) == [Self.images])
    #expect(place.pauses.keys.sorted() == ["example.com"])
    #expect(place.network.log.count == 2)
    place.time.advance(by: .seconds(7200))
    #expect(place.results.contains { $0.address.path() == "/2" && $0.feed?.source == .remote })
    place.stop()
  }

  @Test func `a host gets one request at a time, a second apart, and other hosts don't wait`() {
    let place = Place()
    for host in ["slow.com", "quick.com"] {
      place.network.serve(host) { _, _ in .answer(Self.body, after: host == "slow.com" ? 5 : 0.1) }
    }
    place.start((0..<50).map { "https://slow.com/\($0)" } + (0..<3).map { "https://quick.com/\($0)" })
    place.time.advance(by: .seconds(400))
    for host in ["slow.com", "quick.com"] {
      let log = place.network.log.filter { $0.request.url.host() == host }
      for (one, next) in zip(log, log.dropFirst()) { #expect(one.ended!.distance(to: next.sent) >= .seconds(1)) }
      #expect(log.count == (host == "slow.com" ? 50 : 3))
      if host == "quick.com" { #expect(log.last!.sent.nanoseconds < 4_000_000_000) }
    }
    place.stop()
  }

  @Test func `a user's shorter interval applies to its feed`() {
    let place = Place()
    place.network.serve("example.com") { request, _ in Self.polite(request) }
    place.start(every: .milliseconds(200))
    place.time.advance(by: .seconds(10))
    #expect(place.network.log.count > 25)
    place.stop()
  }

  @Test func `a feed that is gone isn't polled again, and polling ends with the last feed`() {
    let place = Place()
    place.network.serve("example.com") { _, _ in .answer(status: 410, Data()) }
    place.start()
    place.time.advance(by: .seconds(100 * 86_400))
    #expect(place.times == [0])
    #expect(place.isFinished)
    guard case .failure(let error) = place.results.last?.result else {
      Issue.record("nothing was said")
      return
    }
    #expect("\(error)".contains("removed permanently"))
  }

  @Test func `a failing feed is polled more and more rarely, but never given up`() {
    let place = Place()
    place.network.serve("example.com") { _, _ in .answer(status: 404, Data()) }
    place.start()
    place.time.advance(by: .seconds(60 * 86_400))
    #expect(place.gaps.max()! > 10 * 3600 && place.gaps.max()! <= 25 * 3600)
    #expect(place.times.last! > 58 * 86_400)
    #expect(place.results.count == 1)
    place.network.serve("example.com") { _, _ in Self.feed() }
    place.time.advance(by: .seconds(2 * 86_400))
    #expect(place.results.count == 2)
    place.stop()
  }

  @Test func `a feed that fails for weeks is requested unconditionally at most once a day`() {
    let place = Place()
    place.network.serve("example.com") { request, _ in
      request.number < 2 ? Self.polite(request) : .answer(status: 404, Data())
    }
    place.start()
    place.time.advance(by: .seconds(40 * 86_400))
    let whole = place.network.log.filter(\.request.headers.isEmpty).map { Double($0.sent.nanoseconds) / 1e9 }
    #expect(whole.count > 15)
    for (one, next) in zip(whole, whole.dropFirst()) { #expect(next - one >= 86_400) }
    #expect(place.disk.committed(for: URL(string: "https://example.com/feed")!) != nil)
    // The killed process may not have recorded the next due time.
    place.kill()
    place.network.clearLog()
    place.start()
    place.network.serve("example.com") { request, _ in Self.polite(request) }
    place.time.advance(by: .seconds(86_400))
    #expect(place.network.log.filter(\.request.headers.isEmpty).count <= 1)
    place.stop()
  }

  @Test func `when the network returns after weeks, feeds are polled soon, even expired ones`() {
    let place = Place()
    place.network.serve("example.com") { request, _ in Self.polite(request) }
    place.start()
    place.time.advance(by: .seconds(60))
    place.network.disconnect()
    place.time.advance(by: .seconds(20 * 86_400))
    #expect(place.disk.committed(for: URL(string: "https://example.com/feed")!) != nil)
    place.network.reconnect()
    place.network.clearLog()
    place.time.advance(by: .seconds(5 * 3600))
    #expect(place.network.log.first?.request.headers.isEmpty == true)
    place.stop()
  }

  @Test func `a thousand overdue feeds are each polled once, spread over time`() {
    let place = Place()
    let addresses = (0..<1000).map { "https://host\($0).com/" }
    for number in 0..<1000 { place.network.serve("host\(number).com") { request, _ in Self.polite(request) } }
    place.start(addresses)
    place.time.advance(by: .seconds(60))
    #expect(place.network.log.count == 1000)
    place.stop()
    place.network.clearLog()
    place.time.advance(by: .seconds(7 * 86_400))
    place.start(addresses)
    place.time.advance(by: .seconds(10))
    #expect((5..<40).contains(place.network.log.count))
    place.time.advance(by: .seconds(600))
    #expect(place.network.log.count == 1000)
    place.stop()
  }

  @Test func `a poller reports the number of due, requested and failing feeds`() {
    let place = Place()
    for (host, status) in [("a.com", 200), ("b.com", 500)] {
      place.network.serve(host) { _, _ in .answer(status: status, Self.body, after: 1) }
    }
    place.start(["https://a.com/1", "https://a.com/2", "https://b.com/"])
    place.time.advance(by: .milliseconds(500))
    #expect(place.progress.map { [$0.feeds, $0.due, $0.running, $0.failing] }.last == [3, 1, 2, 0])
    place.time.advance(by: .seconds(10))
    #expect(place.progress.map { [$0.feeds, $0.due, $0.running, $0.failing] }.last == [3, 0, 0, 1])
    place.network.serve("b.com") { _, _ in .answer(Self.body) }
    place.time.advance(by: .seconds(8000))
    #expect(place.progress.map { [$0.feeds, $0.due, $0.running, $0.failing] }.last == [3, 0, 0, 0])
    place.stop()
  }

  @Test func `without demand, no feed is requested`() {
    let place = Place()
    place.network.serve("example.com") { request, _ in
      .answer(FeedPayload.bytes(of: makeFeed(1, from: request.number).images))
    }
    let cache = FeedCache(
      store: place.disk, on: place.time,
      now: { [time = place.time] in
        noon + Double(time.now.nanoseconds) / 1e9
      })
    let recorder = FeedPoller(
      [PolledAddress(address, every: .seconds(60))], client: place.network, cache: cache, store: place.disk,
      on: place.time
    ).record(on: place.time, demand: .max(2))
    place.time.advance(by: .seconds(3600))
    #expect(place.network.log.count == 2)
    recorder.cancel()
  }
}
