import FeedHTTP
import FeedStream
import FeedStreamTesting
import Foundation
import ImageFeed
import ImageFeedTesting
import Synchronization
import TestSupport
import Testing

@testable import FeedPolling

private let feedAddress = URL(string: "https://example.com/feed")!
private let feedTopic = "https://example.com/self"

/// Feeds whose hubs announce changes, in virtual time: a hub that works, lies, replays, floods, and disappears.
@Suite(.settled) struct HubSubscriberTests {
  /// A poller, a feed that names a hub, and that hub.
  private final class Place {
    enum Manner {
      case works, silent, refuses, fails, pauses
      /// Responds with status 403 to requests for the first feed, which is polled.
      case forbidsOne
    }

    let time = VirtualTimeScheduler()
    let network: VirtualNetwork
    let disk: VirtualDisk
    var hubs: HubSubscriber!
    var manner = Manner.works
    var lease = 864_000
    var version = 1
    /// The URL of the hub.
    var hub = "https://hub.example/?a=1,2"
    let clock: Clock
    /// The times of the feed's requests, and of those for a subscription.
    private(set) var polls: [Double] = []
    private(set) var subscriptions: [Double] = []
    private var process: [AnyCancellable] = []

    init() {
      network = VirtualNetwork(on: time)
      disk = VirtualDisk(on: time)
      clock = Clock(time)
      time.offloadLatency = .milliseconds(1)
      network.serve("example.com") { [unowned self] request, _ in
        if request.request.method == .post { return subscribed(request.request) }
        polls.append(seconds)
        let body =
          "<rss version='2.0'><channel><item><guid>\(version)</guid>"
          + "<enclosure type='image/png' url='http://a/\(version).png'/></item></channel></rss>"
        return .answer(
          headers: [
            ("Link", "<\(hub)>; rel=\"hub\""), ("Link", "<\(feedTopic)>; rel=self"),
            ("ETag", "\"\(version)\""),
          ], Data(body.utf8))
      }
      network.serve("hub.example") { [unowned self] request, _ in subscribed(request.request) }
    }

    /// The hub's response to a request for a subscription.
    func subscribed(_ request: HTTPRequest) -> VirtualReply {
      subscriptions.append(seconds)
      if manner == .forbidsOne, request.origin == feedAddress { return .answer(status: 403, Data()) }
      switch manner {
      case .fails: return .drop(.connect)
      case .pauses: return .answer(status: 429, headers: [("Retry-After", "7200")], Data())
      case .works, .forbidsOne: time.schedule(after: time.now.advanced(by: 2)) { [unowned self] in verifyAll() }
      case .refuses: time.schedule(after: time.now.advanced(by: 2)) { [unowned self] in deny() }
      case .silent: break
      }
      return .answer(status: 202, Data())
    }

    func deny() {
      _ = hubs.verify(path) { ["hub.mode": "denied", "hub.topic": feedTopic, "hub.reason": "full"][$0] }
    }

    /// Verifies the requested subscriptions of all feeds.
    private func verifyAll() {
      for lease in hubs.entries.values.map(\.lease) {
        verify(topic: lease.link.topic.absoluteString, path: lease.path)
      }
    }

    /// Adds feeds of the same hub, which aren't polled.
    func addFeeds(_ count: Int) {
      for number in 0..<count {
        var health = FeedHealth(address: URL(string: "https://example.com/\(number)")!)
        health.hub = HubLink(hub: URL(string: hub)!, topic: health.address)
        hubs.polled(health)
      }
    }

    var seconds: Double { Double(time.now.nanoseconds) / 1e9 }
    var path: String { hubs.entries[feedAddress]?.lease.path ?? "" }
    var health: FeedHealth? { try? disk.health(of: [feedAddress])[0] }
    var subscription: PushLease? { hubs.lease(of: feedAddress) }

    @discardableResult func verify(
      mode: String = "subscribe", topic: String = feedTopic, path: String? = nil
    ) -> HubReply {
      let fields = [
        "hub.mode": mode, "hub.topic": topic, "hub.challenge": "a challenge", "hub.lease_seconds": "\(lease)",
      ]
      return hubs.verify(path ?? self.path) { fields[$0] }
    }

    func announce(_ text: String = "news", method: HubSignature.Method = .sha256, secret: String? = nil) -> Int {
      let (body, secret) = (Chunk(text), secret ?? subscription?.secret ?? "")
      let code = HubSignature.code(method, of: body, secret: secret).hexDigits
      return hubs.announce(path, body, signature: "\(method.rawValue)=\(code)").status
    }

    func start() {
      let clock = clock
      hubs = HubSubscriber(
        at: URL(string: "https://me.example/websub")!, client: network, on: time, now: { clock.now })
      let cache = FeedCache(store: disk, on: time, now: { clock.now })
      var options = FeedPoller.Options()
      options.seed = 7
      let poller = FeedPoller(
        [PolledAddress(feedAddress, every: .seconds(3600))], client: network, cache: cache, store: disk, on: time,
        options: options
      ).notified(by: hubs)
      process = [poller.sink { _ in }]
    }

    func stop() {
      process = []
      hubs.cancel()
    }

    func pass(_ seconds: Double) { time.advance(by: .seconds(seconds)) }
  }

  private final class Clock: Sendable {
    private let time: VirtualTimeScheduler
    private let error = Mutex(0.0)
    init(_ time: VirtualTimeScheduler) { self.time = time }
    var now: Date { noon + error.withLock { $0 } + Double(time.now.nanoseconds) / 1e9 }
    func set(ahead seconds: Double) { error.withLock { $0 = seconds } }
  }

  private func started(_ change: (Place) -> Void = { _ in }) -> Place {
    let place = Place()
    change(place)
    place.start()
    place.pass(10)
    return place
  }

  @Test func `a feed with a hub is subscribed to, and polled daily instead of hourly`() throws {
    let place = started()
    let lease = try #require(place.subscription)
    #expect(lease.link == HubLink(hub: URL(string: "https://hub.example/?a=1,2")!, topic: URL(string: feedTopic)!))
    #expect(lease.until != nil && place.polls.count == 1)
    place.pass(9 * 86_400 - 20)
    // The poll that was due after an hour, and then one per day, all within 25 hours.
    #expect((9...12).contains(place.polls.count), "\(place.polls)")
    #expect(zip(place.polls, place.polls.dropFirst()).allSatisfy { $1 - $0 < 25 * 3600 })
    #expect(place.health?.rule == .pushed && place.health?.push?.until == lease.until)
    #expect(place.subscriptions.count == 1)
    place.pass(3600)
    #expect(place.subscriptions.count == 2, "the lease is renewed before it ends")
    #expect(try #require(place.subscription?.until) > lease.until!)
  }

  @Test func `a request to a hub says whether the feed that named the hub came from a private network`() {
    let place = Place()
    var marks: [Bool?] = []
    place.network.serve("hub.example") { [unowned place] request, _ in
      marks.append(request.request.originIsPrivate)
      return place.subscribed(request.request)
    }
    place.start()
    place.pass(10)
    var other = FeedHealth(address: URL(string: "https://example.com/another")!)
    other.hub = HubLink(hub: URL(string: place.hub)!, topic: other.address)
    other.hub?.isFromPrivateNetwork = true
    place.hubs.polled(other)
    place.pass(10)
    #expect(marks == [false, true])
    place.stop()
  }

  @Test func `a lease continues if the feed names the same hub from another network`() throws {
    let place = started()
    let lease = try #require(place.subscription)
    var health = try #require(place.health)
    for mark in [true, nil] {
      health.hub?.isFromPrivateNetwork = mark
      place.hubs.polled(health)
      #expect(place.subscription?.path == lease.path && place.subscription?.until == lease.until)
      #expect(place.subscription?.link.isFromPrivateNetwork == mark)
    }
    place.pass(60)
    #expect(place.subscriptions.count == 1)
    place.stop()
  }

  @Test func `an announcement isn't lost when the feed's host is reserved or paused`() {
    let place = started()
    place.pass(2 * 86_400)
    let before = place.polls.count
    let now = noon + place.seconds
    _ = place.disk.carryOut([.visit(HostVisit(host: "example.com", now: now, lease: .seconds(20)))])
    place.version = 2
    #expect(place.announce() == 202)
    place.pass(10)
    #expect(place.polls.count == before)
    place.pass(15)
    #expect(place.polls.count == before + 1)
  }

  @Test func `an announcement isn't lost when another process has polled the feed before it`() {
    let place = started()
    place.pass(2 * 86_400)
    var options = FeedPoller.Options()
    options.seed = 7
    // It has no hub, so its interval is an hour.
    let cache = FeedCache(store: place.disk, on: place.time, now: { [clock = place.clock] in clock.now })
    let other = FeedPoller(
      [PolledAddress(feedAddress, every: .seconds(3600))], client: place.network, cache: cache, store: place.disk,
      on: place.time, options: options
    ).sink { _ in }
    var before = place.polls.count
    while place.polls.count == before { place.pass(60) }
    place.pass(300)
    other.cancel()
    before = place.polls.count
    place.version = 2
    #expect(place.announce() == 202)
    place.pass(90)
    #expect(place.polls.count == before + 1)
    place.stop()
  }

  @Test(arguments: HubSignature.Method.allCases)
  func `a signed announcement triggers a poll, at least a minute after the previous one`(method: HubSignature.Method) {
    let place = started()
    place.pass(2 * 86_400)
    let before = place.polls.count
    place.version = 2
    #expect(place.announce(method: method) == 202)
    place.pass(1)
    #expect(place.polls.count == before + 1)
    #expect(place.announce("more", method: method) == 202)
    place.pass(50)
    #expect(place.polls.count == before + 1)
    place.pass(15)
    #expect(place.polls.count == before + 2)
  }

  @Test func `a flood of announcements causes one poll per minute`() {
    let place = started()
    place.pass(2 * 86_400)
    let before = place.polls.count
    for number in 0..<3600 {
      #expect(place.announce("news \(number)") == 202)
      place.pass(1)
    }
    #expect((55...62).contains(place.polls.count - before), "\(place.polls.count - before)")
  }

  @Test func `an announcement with a wrong signature, or a repeated one, causes no poll`() {
    let place = started()
    place.pass(2 * 86_400)
    #expect(place.announce("first") == 202)
    place.pass(120)
    let before = place.polls.count
    #expect(place.announce("first") == 202)
    #expect(place.announce("news", secret: "a guess") == 202)
    let hubs = place.hubs!
    for field in [
      nil, "", "sha256=", "sha256=zz", "md5=00", "sha256=" + String(repeating: "0", count: 64), "=", "sha1=+1",
    ] {
      #expect(hubs.announce(place.path, Chunk("news"), signature: field).status == 202)
    }
    #expect(hubs.announce("another", Chunk("news"), signature: nil).status == 410)
    place.pass(3600)
    #expect(place.polls.count == before)
  }

  @Test func `a repeated announcement causes no poll, however its signature is spelled`() throws {
    let place = started()
    place.pass(2 * 86_400)
    let secret = try #require(place.subscription?.secret)
    let news = try #require(
      (0..<10_000).lazy.map { "news \($0)" }
        .first { HubSignature.code(.sha256, of: Chunk($0), secret: secret).contains(0) })
    #expect(place.announce(news) == 202)
    place.pass(120)
    let before = place.polls.count
    let code = HubSignature.code(.sha256, of: Chunk(news), secret: secret)
    for zero in ["00", "-0", "+0"] {
      let digits = code.map { $0 == 0 ? zero : String(format: "%02X", $0) }.joined()
      #expect(place.hubs.announce(place.path, Chunk(news), signature: "SHA256=\(digits)").status == 202)
    }
    place.pass(3600)
    #expect(place.polls.count == before)
  }

  @Test func `only requested subscriptions are verified`() {
    let place = started { $0.manner = .silent }
    #expect(place.subscription != nil && place.subscription?.until == nil)
    #expect(place.announce() == 410, "there is no lease yet")
    #expect(place.verify(topic: "https://example.com/other").status == 404)
    #expect(place.verify(mode: "unsubscribe").status == 404)
    place.lease = 10
    #expect(place.verify().status == 404)
    place.lease = 864_000
    #expect(place.verify() == HubReply(200, "a challenge"))
    #expect(place.verify().status == 404, "it was verified already")
    #expect(place.hubs.verify("guess") { _ in feedTopic }.status == 404)
  }

  @Test(arguments: [false, true]) func `without a lease, a feed is polled as without a hub`(isSilent: Bool) {
    let place = started { $0.manner = isSilent ? .silent : .fails }
    place.pass(2 * 86_400)
    #expect((40...50).contains(place.polls.count))
    #expect(place.health?.rule == .interval && place.health?.push?.trouble.contains("its hub") == true)
    // Ten minutes, doubled each time, up to a day.
    #expect((5...9).contains(place.subscriptions.count), "\(place.subscriptions)")
  }

  @Test func `a hub's refusal is reported, and the subscription retried later`() {
    let place = started { $0.manner = .refuses }
    #expect(place.subscription?.trouble == "its hub refused the subscription (full)")
    place.pass(300)
    #expect(place.subscriptions.count == 1)
    place.pass(400)
    #expect(place.subscriptions.count == 2)
  }

  @Test func `when a hub disappears, the feed is polled within 25 hours, and then hourly`() throws {
    let place = started()
    place.pass(2 * 86_400)
    place.manner = .fails
    let end = try #require(place.subscription?.until).timeIntervalSince(noon)
    place.pass(end - place.seconds + 25 * 3600)
    let after = try #require(place.polls.first { $0 > end })
    #expect(after - place.polls.last { $0 <= end }! < 25 * 3600)
    place.pass(86_400)
    #expect(zip(place.polls, place.polls.dropFirst()).allSatisfy { $1 - $0 < 25 * 3600 })
    #expect(place.polls.suffix(10).last! - place.polls.suffix(10).first! < 10 * 4000)
    #expect(place.health?.rule == .interval)
  }

  @Test func `a lease survives a restart, without a second subscription`() {
    let place = started()
    place.pass(86_400)
    let path = place.path
    place.stop()
    place.start()
    place.pass(60)
    #expect(place.path == path && place.subscriptions.count == 1)
    place.version = 2
    let before = place.polls.count
    #expect(place.announce() == 202)
    place.pass(1)
    #expect(place.polls.count == before + 1)
  }

  @Test func `a hub on a feed's own host gets its request after the usual gap`() throws {
    let place = started { $0.hub = "https://example.com/hub" }
    let (poll, subscription) = (try #require(place.polls.first), try #require(place.subscriptions.first))
    #expect((1...1.5).contains(subscription - poll) && place.subscription?.until != nil)
  }

  @Test func `a hub that fails gets one request for all of its feeds, after the pause that it requests`() {
    let place = started { $0.manner = .pauses }
    place.addFeeds(20)
    place.pass(7000)
    #expect(place.subscriptions.count == 1)
    #expect(place.hubs.entries.values.allSatisfy { $0.lease.trouble == "its hub responded with status 429" })
    place.manner = .fails
    place.pass(400)
    #expect(place.subscriptions.count == 2)
    place.pass(1300)
    #expect(place.subscriptions.count == 3, "twenty minutes later")
    place.manner = .works
    place.pass(2500)
    #expect(place.subscriptions.count == 3 + 21, "when the hub works again, all feeds are subscribed to")
    #expect(place.hubs.entries.values.allSatisfy { $0.lease.until != nil && $0.lease.trouble.isEmpty })
  }

  @Test func `a hub that redirects isn't paused by the host that it redirects to`() throws {
    let place = Place()
    place.network.serve("hub.example") { _, _ in
      .answer(status: 302, headers: [("Location", "https://other.example/")], Data())
    }
    place.network.serve("other.example") { _, _ in
      .answer(status: 429, headers: [("Retry-After", "86400")], Data())
    }
    place.start()
    place.pass(60)
    #expect(place.subscription?.trouble == "its hub responded with status 429")
    #expect(try place.disk.health(ofHost: "hub.example")?.pausedUntil == nil)
    #expect(try #require(try place.disk.health(ofHost: "other.example")?.pausedUntil) > noon + 86_000)
    #expect(place.hubs.failed["hub.example"] == nil, "other hubs of that host work")
    place.stop()
  }

  @Test func `a hub that redirects to a host that doesn't work gets one request for all feeds of its URL`() {
    let place = Place()
    place.network.serve("hub.example") { [unowned place] request, _ in
      request.request.url.path() == "/works"
        ? place.subscribed(request.request)
        : .answer(status: 308, headers: [("Location", "https://other.example/")], Data())
    }
    var works = false
    place.network.serve("other.example") { [unowned place] request, _ in
      works ? place.subscribed(request.request) : .drop(.connect)
    }
    func requests() -> Int { place.network.log.filter { $0.request.url.host() == "hub.example" }.count }
    place.start()
    place.addFeeds(20)
    place.pass(300)
    #expect(requests() == 1)
    var other = FeedHealth(address: URL(string: "https://example.com/another")!)
    other.hub = HubLink(hub: URL(string: "https://hub.example/works")!, topic: other.address)
    place.hubs.polled(other)
    place.pass(100)
    #expect(requests() == 2 && place.hubs.isPushed(other.address), "another URL of the same host works")
    place.pass(300)
    #expect(requests() == 3, "ten minutes later, one more")
    works = true
    place.pass(1300)
    #expect(place.hubs.entries.values.allSatisfy { $0.lease.until != nil && $0.lease.trouble.isEmpty })
    place.stop()
  }

  @Test func `feeds of a hub that redirected wait for its host only as long as that host doesn't work`() {
    let place = Place()
    var requests = 0
    place.network.serve("hub.example") { [unowned place] request, _ in
      requests += 1
      switch requests {
      case 1: return .answer(status: 308, headers: [("Location", "https://other.example/")], Data())
      case 2: return .answer(status: 503, Data())
      default: return place.subscribed(request.request)
      }
    }
    place.network.serve("other.example") { _, _ in .drop(.connect) }
    place.start()
    place.addFeeds(5)
    place.pass(1000)
    #expect(requests == 2)
    place.pass(500)
    #expect(place.hubs.entries.values.allSatisfy { $0.lease.until != nil }, "ten minutes after the second failure")
    place.stop()
  }

  @Test func `a hub that refuses one feed gets the requests of its other feeds`() {
    let place = started { $0.manner = .forbidsOne }
    place.addFeeds(20)
    place.pass(100)
    #expect(place.hubs.entries.values.filter { $0.lease.until != nil }.count == 20)
    #expect(place.subscription?.trouble == "its hub responded with status 403")
    place.pass(86_400)
    #expect(place.subscriptions.count < 21 + 10, "the refused feed is tried more and more rarely")
  }

  @Test func `a hub that works again for other feeds needs no more trials`() {
    let place = started { $0.manner = .fails }
    place.addFeeds(20)
    place.pass(60)
    place.manner = .forbidsOne
    place.pass(1300)
    #expect(place.hubs.entries.values.filter { $0.lease.until != nil }.count == 20)
  }

  @Test func `thousands of subscriptions that are overdue after a sleep cause one request`() {
    let place = started { $0.manner = .silent }
    place.addFeeds(2000)
    place.pass(3000)
    let before = place.subscriptions.count
    #expect(before > 1900)
    place.clock.set(ahead: 7200)
    place.pass(300)
    #expect(place.subscriptions.count <= before + 1)
  }

  @Test func `when a lease is refused later, the feed is polled as without a hub, and that is saved`() throws {
    let place = started()
    place.pass(4000)
    #expect(place.health?.rule == .pushed && place.health?.push?.until != nil)
    place.manner = .fails
    place.deny()
    place.pass(1)
    let health = try #require(place.health)
    #expect(health.push?.until == nil && health.push?.trouble == "its hub refused the subscription (full)")
    #expect(health.rule == .interval && health.reason == "the interval is 1 hour")
    #expect(try #require(health.due) < place.clock.now + 4000)
    let before = place.polls.count
    place.pass(86_400)
    #expect((20...25).contains(place.polls.count - before))
  }

  @Test func `when a lease ends, the feed is polled as without a hub`() {
    let place = started { $0.lease = 3900 }
    place.pass(3300)
    place.manner = .fails
    place.pass(2000)
    #expect(place.subscription?.until == nil && place.health?.rule == .interval)
    let before = place.polls.count
    place.pass(86_400)
    #expect((20...25).contains(place.polls.count - before))
  }

  @Test func `a lease that was granted while the clock was a year ahead ends in time`() throws {
    let place = Place()
    place.clock.set(ahead: 365 * 86_400)
    place.start()
    place.pass(3 * 86_400)
    place.stop()
    place.clock.set(ahead: 0)
    place.start()
    place.pass(1)
    #expect(try #require(place.subscription?.until) <= place.clock.now + 8 * 86_400)
    var health = FeedHealth(address: URL(string: "https://example.com/other")!)
    health.hub = HubLink(hub: URL(string: place.hub)!, topic: health.address)
    health.push = PushLease(link: try #require(health.hub), path: "1", secret: "2")
    health.push?.until = place.clock.now + 400 * 86_400
    place.hubs.resume(health)
    #expect(place.hubs.lease(of: health.address)?.until == place.clock.now + 90 * 86_400)
  }

  @Test func `a lease ends in time, even if the clock is set back meanwhile`() throws {
    let place = started()
    place.pass(3600)
    let until = try #require(place.subscription?.until)
    place.clock.set(ahead: -3 * 86_400)
    place.pass(120)
    #expect(abs(try #require(place.subscription?.until).timeIntervalSince(until) + 3 * 86_400) < 1)
    place.pass(9 * 86_400)
    #expect(place.subscriptions.count == 2)
  }
}
