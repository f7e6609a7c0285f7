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

private let topic = "https://feeds.example/feed.atom"

/// A hub for a server's own feeds, in virtual time, with subscribers that confirm, refuse, fail, leave, and flood.
@Suite(.settled) struct FeedHubTests {
  /// A hub, and subscribers of every kind at `<kind>.example`.
  private final class Place {
    let time = VirtualTimeScheduler()
    let network: VirtualNetwork
    let store: InMemoryFeedStore
    var hub: FeedHub!
    var options = FeedHub.Options()
    var version = 1
    /// The URL of the hub's feed.
    var served = topic
    var isReachable = true
    /// The error of the wall clock, and the time that a delivery takes, in seconds.
    var clockError = 0.0
    var delay = 0.08
    /// The time by which each delivery takes longer than the one before.
    var step = 0.0
    /// The time that it takes to read the content, in milliseconds.
    var contentDelay = 0
    /// True if deliveries are refused.
    var isFull = false
    /// The deliveries to subscribers: the host, the body, and the time.
    private(set) var sent: [(host: String, body: String, at: Double)] = []
    var bodies: [String] { sent.map(\.body) }
    private(set) var fields: [String: String] = [:]
    private(set) var verified: [String] = []

    init(store: InMemoryFeedStore = InMemoryFeedStore()) {
      self.store = store
      network = VirtualNetwork(on: time)
      time.offloadLatency = .milliseconds(1)
      options.retries = .exponential(from: .seconds(30), cap: .seconds(900), limit: 6)
      for manner in ["good", "other", "liar", "refuses", "gone"] {
        network.serve("\(manner).example") { [unowned self] request, _ in response(manner, request) }
      }
      start()
    }

    func start(reportingTo report: @escaping (FeedStoreError) -> Void = { _ in }) {
      let clock = Clock(time)
      hub = FeedHub(
        at: URL(string: "https://feeds.example/hub")!, client: network, store: store, on: time, options: options,
        now: { [unowned self] in clock.now + clockError }, isTopic: { [unowned self] in $0.absoluteString == served },
        content: { [unowned self] _ in
          let content = Just(
            FeedHub.Content(type: "application/atom+xml", body: Chunk("version \(version)"), mark: "\(version)"))
          guard contentDelay > 0 else { return content.eraseToAnyPublisher() }
          return content.delay(for: .milliseconds(contentDelay), scheduler: time).eraseToAnyPublisher()
        })
      hub.report = report
      pass(1)
    }

    private func response(_ manner: String, _ request: VirtualRequest) -> VirtualReply {
      guard isReachable else { return .drop(.connect) }
      if request.request.method == .post {
        sent.append((manner, request.body.text, Double(time.now.nanoseconds) / 1e9))
        for field in request.request.headers { fields[field.name] = field.value }
        delay += step
        return .answer(status: manner == "gone" ? 410 : isFull ? 503 : 204, Data(), after: .seconds(delay))
      }
      let query = URLComponents(url: request.request.url, resolvingAgainstBaseURL: true)?.queryItems ?? []
      let values = Dictionary(query.map { ($0.name, $0.value ?? "") }) { first, _ in first }
      let (mode, lease) = (values["hub.mode"] ?? "", values["hub.lease_seconds"] ?? "-")
      verified.append("\(manner) \(mode) \(lease) \(values["own"] ?? "-")")
      switch manner {
      case "liar": return .answer(Data("another challenge".utf8))
      case "refuses": return .answer(status: 404, Data())
      default: return .answer(Data((values["hub.challenge"] ?? "").utf8))
      }
    }

    @discardableResult func ask(
      _ host: String, mode: String = "subscribe", topic: String? = topic, lease: String? = nil, secret: String? = nil,
      path: String = "/callback?own=1"
    ) -> Int {
      let form = [
        "hub.mode": mode, "hub.topic": topic, "hub.callback": "https://\(host).example\(path)",
        "hub.lease_seconds": lease, "hub.secret": secret,
      ]
      let reply = hub.take { form[$0] ?? nil }
      pass(1)
      return reply.status
    }

    func publish() {
      version += 1
      hub.changed()
      pass(5)
    }

    func pass(_ seconds: Double) { time.advance(by: .seconds(seconds)) }
  }

  private final class Clock: Sendable {
    private let time: VirtualTimeScheduler
    init(_ time: VirtualTimeScheduler) { self.time = time }
    var now: Date { noon + Double(time.now.nanoseconds) / 1e9 }
  }

  private final class Count: Sendable {
    private let number = Mutex(0)
    var value: Int { number.withLock { $0 } }
    func add() { number.withLock { $0 += 1 } }
  }

  /// Makes a store busy, as another process does.
  private final class Lock: Sendable {
    private let isHeld = Mutex(false)
    func set(_ value: Bool) { isHeld.withLock { $0 = value } }

    /// A store whose reads fail while the lock is held, and whose writes may fail, too.
    func store(failsToWrite: Bool) -> InMemoryFeedStore {
      InMemoryFeedStore { [self] step in
        (failsToWrite || step == .retrieval) && isHeld.withLock { $0 } ? .busy : nil
      }
    }
  }

  @Test func `a confirmed subscriber receives each change once, complete and signed`() {
    let place = Place()
    #expect(place.ask("good", secret: "a secret") == 202)
    #expect(place.verified == ["good subscribe 864000 1"] && place.hub.count == 1)
    place.hub.changed()
    place.pass(60)
    #expect(place.sent.isEmpty, "nothing has changed since the subscription")
    place.publish()
    #expect(place.sent.map(\.body) == ["version 2"])
    let code = HubSignature.code(.sha256, of: Chunk("version 2"), secret: "a secret")
    #expect(place.fields["X-Hub-Signature"] == "sha256=\(code.hexDigits)")
    #expect(place.fields["Link"] == "<https://feeds.example/hub>; rel=\"hub\", <\(topic)>; rel=\"self\"")
    #expect(place.fields["Content-Type"] == "application/atom+xml")
    place.hub.changed()
    place.pass(60)
    #expect(place.sent.count == 1)
  }

  @Test(arguments: ["liar", "refuses"]) func `a callback that doesn't confirm isn't subscribed`(host: String) {
    let place = Place()
    #expect(place.ask(host) == 202)
    #expect(place.verified.count == 1 && place.hub.count == 0)
    place.publish()
    #expect(place.sent.isEmpty)
  }

  @Test func `unsubscribing must be confirmed too, so nobody can unsubscribe another callback`() {
    let place = Place()
    place.ask("good")
    place.ask("liar", mode: "unsubscribe")
    #expect(place.hub.count == 1)
    place.ask("good", mode: "unsubscribe")
    #expect(place.verified.last == "good unsubscribe - 1" && place.hub.count == 0)
    place.publish()
    #expect(place.sent.isEmpty)
  }

  @Test(arguments: [("1", "300"), ("900", "900"), ("99999999999999", "2592000"), ("nonsense", "864000"), ("-5", "300")])
  func `a lease is within the hub's limits, and nothing is sent after it ends`(asked: String, granted: String) {
    let place = Place()
    place.ask("good", lease: asked)
    #expect(place.verified == ["good subscribe \(granted) 1"])
    place.pass(Double(granted)! - 20)
    place.publish()
    #expect(place.sent.count == 1)
    place.pass(30)
    place.publish()
    #expect(place.sent.count == 1 && place.hub.count == 0)
  }

  @Test func `a failed delivery is retried with growing pauses and the latest content, up to a limit`() {
    let place = Place()
    place.ask("good")
    place.isReachable = false
    place.publish()
    place.pass(20)
    place.version = 3
    place.isReachable = true
    place.pass(60)
    #expect(place.sent.map(\.body) == ["version 3"])
    place.isReachable = false
    place.publish()
    place.pass(4000)
    place.isReachable = true
    place.pass(4000)
    #expect(place.sent.count == 1 && place.hub.count == 1, "the subscription stays until its lease ends")
    place.publish()
    #expect(place.sent.map(\.body) == ["version 3", "version 5"])
  }

  @Test func `a change during the last attempt of a delivery is sent, too`() {
    let place = Place()
    place.ask("good")
    (place.isFull, place.delay) = (true, 8)
    place.publish()
    while place.sent.count < 7 { place.pass(1) }
    place.version = 3
    place.hub.changed()
    place.pass(5)
    place.isFull = false
    place.pass(3600)
    #expect(place.bodies.prefix(7).allSatisfy { $0 == "version 2" } && place.bodies.last == "version 3")
    let count = place.sent.count
    place.hub.changed()
    place.pass(3600)
    #expect(place.sent.count == count)
  }

  @Test func `content that could not be delivered isn't sent again because of other news, but later content is`() {
    let place = Place()
    place.ask("good")
    place.isFull = true
    place.publish()
    place.pass(7200)
    let count = place.sent.count
    place.hub.changed()
    place.pass(7200)
    #expect(place.sent.count == count)
    place.isFull = false
    place.publish()
    #expect(place.bodies.last == "version 3")
  }

  @Test func `subscriptions survive a clock that is ahead for a minute`() {
    let place = Place()
    place.ask("good")
    place.clockError = 400 * 86_400
    place.publish()
    place.pass(60)
    place.clockError = 0
    place.publish()
    #expect(place.bodies == ["version 2", "version 3"] && place.hub.count == 1)
  }

  @Test func `a lease that ends because the clock was set forward lasts for another hour`() {
    let place = Place()
    place.ask("good")
    place.clockError = 400 * 86_400
    place.publish()
    place.pass(3600)
    place.publish()
    #expect(place.bodies == ["version 2"] && place.hub.count == 0)
  }

  @Test func `leases end on a machine that sleeps often`() {
    let place = Place()
    place.ask("good", lease: "900")
    for _ in 0..<3 {
      place.clockError += 300
      place.publish()
      place.pass(2400)
    }
    #expect(place.hub.count == 0)
  }

  @Test func `a retry is sent in time, even if the clock is set back`() {
    let place = Place()
    place.ask("good")
    place.isFull = true
    place.publish()
    (place.isFull, place.clockError) = (false, -86_400)
    place.pass(60)
    #expect(place.bodies == ["version 2", "version 2"])
  }

  @Test func `a callback that responds with 410 is removed`() {
    let place = Place()
    place.ask("gone")
    place.ask("good")
    place.publish()
    #expect(place.sent.count == 2 && place.hub.count == 1)
    place.publish()
    #expect(place.sent.map(\.host).filter { $0 == "gone" }.count == 1)
  }

  @Test func `subscriptions survive a restart, and a change meanwhile is sent`() {
    let place = Place()
    place.ask("good", secret: "a secret")
    place.publish()
    place.hub.cancel()
    place.version += 1
    place.start()
    place.pass(5)
    #expect(place.hub.count == 1 && place.sent.map(\.body) == ["version 2", "version 3"])
  }

  @Test func `hubs that share a store keep each other's subscriptions and removals, and learn of them at their start`()
  {
    let store = InMemoryFeedStore()
    let (one, two) = (Place(store: store), Place(store: store))
    one.ask("good")
    two.ask("other")
    let later = Place(store: store)
    #expect(one.hub.count == 1 && two.hub.count == 1 && later.hub.count == 2)
    two.ask("good", mode: "unsubscribe")
    one.publish()
    #expect(one.hub.count == 1 && one.bodies == ["version 2"])
    #expect(Place(store: store).hub.count == 1, "a recorded delivery doesn't bring the subscription back")
  }

  @Test func `a hub neither reads nor deletes subscriptions to another server's feeds`() {
    let store = InMemoryFeedStore()
    let (one, two) = (Place(store: store), Place(store: store))
    one.ask("good")
    two.hub.cancel()
    two.served = "https://others.example/feed.atom"
    two.start()
    two.ask("other", topic: two.served)
    two.publish()
    #expect(two.hub.count == 1 && two.sent.map(\.host) == ["other"])
    one.hub.cancel()
    one.start()
    #expect(one.hub.count == 1)
  }

  @Test func `a hub that sees a lease end keeps the subscription that was renewed at another hub`() {
    let store = InMemoryFeedStore()
    let one = Place(store: store)
    one.ask("good", lease: "300")
    let two = Place(store: store)
    for place in [one, two] { place.pass(270) }
    one.ask("good", lease: "900")
    two.pass(60)
    two.ask("other")
    #expect(two.hub.count == 1)
    #expect(Place(store: store).hub.count == 2)
  }

  @Test func `if two hubs change a subscription, the later confirmation counts`() throws {
    let url = try #require(URL(string: topic))
    func subscription(_ confirmed: Double) -> HubSubscription {
      HubSubscription(topic: url, callback: url, until: noon + 900 - confirmed, mark: "1", confirmed: noon + confirmed)
    }
    let saved = subscription(10)
    for (seconds, isLater) in [(9.0, false), (11, true)] {
      let renewed = HubChange(subscription: subscription(seconds), confirmed: noon + seconds)
      #expect(renewed.applied(to: saved) == (isLater ? renewed.subscription : saved))
      #expect(HubChange(confirmed: noon + seconds).applied(to: saved) == (isLater ? nil : saved))
    }
    #expect(HubChange(subscription: saved, isDelivered: true).applied(to: nil) == nil)
  }

  @Test func `deliveries that end one after another are saved together`() {
    let writes = Count()
    let place = Place(
      store: InMemoryFeedStore { step in
        if step == .insertion { writes.add() }
        return nil
      })
    for number in 0..<50 { place.ask("good", path: "/\(number)") }
    place.step = 0.1
    let before = writes.value
    place.publish()
    place.pass(30)
    #expect(place.sent.count == 50 && (1...10).contains(writes.value - before))
    place.hub.cancel()
    place.start()
    place.pass(5)
    #expect(place.sent.count == 50, "the deliveries were recorded")
  }

  /// A hub that starts while its store, which has two subscriptions, is busy, and gets a third one.
  private func restarted(failsToWrite: Bool) -> (Place, Lock) {
    let lock = Lock()
    let place = Place(store: lock.store(failsToWrite: failsToWrite))
    place.ask("good")
    place.ask("other")
    place.hub.cancel()
    lock.set(true)
    place.start()
    place.ask("good", path: "/new")
    return (place, lock)
  }

  @Test func `subscriptions that can't be read at the start aren't overwritten, and are read later`() {
    let (place, lock) = restarted(failsToWrite: false)
    #expect(place.hub.count == 3, "a successful write has read them")
    place.hub.cancel()
    place.start()
    lock.set(false)
    place.pass(60)
    #expect(place.hub.count == 3)
    place.publish()
    #expect(place.sent.count == 3)
  }

  @Test(arguments: [60.0, 0.001])
  func `a subscription that is confirmed while the store is busy is saved later, at the latest at the end`(
    seconds: Double
  ) {
    let (place, lock) = restarted(failsToWrite: true)
    lock.set(false)
    place.pass(seconds)
    place.hub.cancel()
    place.pass(1)
    place.start()
    #expect(place.hub.count == 3)
    place.hub.cancel()
  }

  @Test func `content that arrives after a new subscription is saved isn't sent again once the store can be read`() {
    let lock = Lock()
    let place = Place(store: lock.store(failsToWrite: false))
    lock.set(true)
    place.contentDelay = 500
    place.start()
    place.ask("good")
    lock.set(false)
    place.pass(60)
    #expect(place.hub.count == 1 && place.sent.isEmpty)
    place.hub.cancel()
  }

  @Test func `while the store can't be read, a limited number of unsubscribed callbacks is remembered`() {
    let lock = Lock()
    let place = Place(store: lock.store(failsToWrite: true))
    lock.set(true)
    place.options.mostSubscriptions = 3
    place.start()
    for number in 0..<5 { place.ask("good", mode: "unsubscribe", path: "/\(number)") }
    #expect(place.verified.count == 5 && place.hub.changes.count == 3)
    place.hub.cancel()
    place.pass(1)
  }

  @Test func `while the store fails, subscriptions that come and go are limited, and a known one's removal is kept`() {
    let lock = Lock()
    let place = Place(store: lock.store(failsToWrite: true))
    place.ask("good")
    place.hub.cancel()
    place.options.mostSubscriptions = 3
    place.start()
    lock.set(true)
    for number in 0..<5 {
      place.ask("other", path: "/\(number)")
      place.ask("other", mode: "unsubscribe", path: "/\(number)")
    }
    #expect(place.hub.changes.count == 3)
    place.ask("good", mode: "unsubscribe")
    #expect(place.hub.changes.count == 4)
    lock.set(false)
    place.hub.cancel()
    place.pass(1)
    place.start()
    #expect(place.hub.count == 0)
  }

  @Test func `cancel() during a write that fails writes once more`() {
    let lock = Lock()
    let place = Place(store: lock.store(failsToWrite: true))
    var errors = 0
    place.start { _ in errors += 1 }
    lock.set(true)
    let url = URL(string: topic)!
    place.hub.remove(.init(topic: url, callback: url))
    place.hub.save()
    place.hub.cancel()
    place.pass(60)
    #expect(errors == 2)
  }

  @Test func `unsubscribing while the saved subscriptions can't be read isn't undone`() {
    let lock = Lock()
    let place = Place(store: lock.store(failsToWrite: false))
    place.ask("good")
    place.ask("other")
    place.hub.cancel()
    lock.set(true)
    place.start()
    place.ask("good", mode: "unsubscribe")
    lock.set(false)
    place.pass(60)
    #expect(place.hub.count == 1)
    place.publish()
    #expect(place.sent.map(\.host) == ["other"])
    place.hub.cancel()
    place.start()
    #expect(place.hub.count == 1)
    place.hub.cancel()
  }

  @Test(arguments: [false, true])
  func `a subscriber that renews while the saved subscriptions can't be read gets the last change once`(
    isPublished: Bool
  ) {
    let lock = Lock()
    let place = Place(store: lock.store(failsToWrite: false))
    place.ask("good")
    place.hub.cancel()
    place.version = 2
    lock.set(true)
    place.start()
    place.ask("good")
    if isPublished { place.publish() }
    lock.set(false)
    place.pass(60)
    #expect(place.bodies == [isPublished ? "version 3" : "version 2"])
  }

  @Test func `a store that keeps failing is reported once for the reads, and once per failed write`() {
    let lock = Lock()
    let place = Place(store: lock.store(failsToWrite: true))
    lock.set(true)
    var errors: [FeedStoreError] = []
    place.start { errors.append($0) }
    place.pass(3600)
    #expect(errors == [.retrieval(.busy, place: "memory")])
    place.ask("good", mode: "unsubscribe")
    place.pass(3600)
    #expect(errors.dropFirst() == [.insertion(.busy, place: "memory")])
    place.hub.cancel()
    place.pass(1)
  }

  @Test func `a delivery that was due at a restart is made, and then not repeated`() {
    let place = Place()
    place.ask("good")
    place.isFull = true
    place.publish()
    place.hub.cancel()
    place.isFull = false
    place.start()
    place.pass(60)
    #expect(place.bodies == ["version 2", "version 2"])
    place.hub.cancel()
    place.start()
    place.pass(60)
    #expect(place.sent.count == 2, "the delivery was recorded")
  }

  @Test func `a malformed request is refused with a reason, and changes nothing`() {
    let place = Place()
    #expect(place.ask("good", mode: "publish") == 400)
    #expect(place.ask("good", topic: nil) == 404 && place.ask("good", topic: "https://feeds.example/feed.json") == 404)
    #expect(place.ask("good", secret: String(repeating: "s", count: 200)) == 400)
    for callback in [
      "ftp://good.example/", "https://user:pass@good.example/", "", "callback", "https://good.example/#a",
    ] {
      let form = ["hub.mode": "subscribe", "hub.topic": topic, "hub.callback": callback]
      #expect(place.hub.take { form[$0] }.status == 400, "\(callback)")
    }
    place.pass(10)
    #expect(place.verified.isEmpty && place.hub.count == 0)
  }

  @Test func `the number of subscriptions is limited per host and in total`() {
    let place = Place()
    var statuses: [Int] = []
    for number in 0..<150 { statuses.append(place.ask("good", path: "/\(number)")) }
    #expect(statuses.prefix(100).allSatisfy { $0 == 202 } && statuses.suffix(50).allSatisfy { $0 == 503 })
    #expect(place.ask("other") == 202 && place.hub.count == 101)
    #expect(place.ask("good", path: "/7") == 202, "a subscription can be renewed at the limit")
    place.publish()
    #expect(place.sent.count == 101)
    func waiting(_ callbacks: [String]) -> Int {
      callbacks.count { callback in
        let form = ["hub.mode": "unsubscribe", "hub.topic": topic, "hub.callback": callback]
        return place.hub.take { form[$0] }.status == 202
      }
    }
    #expect(waiting((0..<20).map { "https://other.example/\($0)" }) == 10)
    #expect(waiting((0..<120).map { "https://host\($0).example/" }) == 90)
  }

  @Test func `subscriptions that wait for their verification count, and a host's name is compared without case`() {
    let place = Place()
    (place.options.mostSubscriptions, place.options.mostPerHost) = (3, 2)
    place.start()
    func take(_ callback: String) -> Int {
      let form = ["hub.mode": "subscribe", "hub.topic": topic, "hub.callback": callback]
      return place.hub.take { form[$0] }.status
    }
    #expect((0..<4).map { take("https://good.example/\($0)") } == [202, 202, 503, 503])
    #expect(take("https://good.example/1") == 202, "the same subscription again")
    #expect(take("https://GOOD.example/5") == 503 && take("https://good.example./5") == 503)
    #expect(take("https://other.example/6") == 202 && take("https://liar.example/7") == 503)
    place.pass(5)
    #expect(place.hub.count == 3)
  }

  @Test(arguments: [1, 20])
  func `verifications that take long hold up neither deliveries nor other hosts' verifications`(hosts: Int) {
    let place = Place()
    place.ask("good")
    for number in 0..<hosts {
      place.network.serve("tarpit\(number).example") { _, _ in .answer(Data(), after: .seconds(9)) }
    }
    for number in 0..<(hosts == 1 ? 120 : 40) {
      let callback = "https://tarpit\(number % hosts).example/\(number)"
      let form = ["hub.mode": "unsubscribe", "hub.topic": topic, "hub.callback": callback]
      #expect(place.hub.take { form[$0] }.status == (number / hosts < 10 ? 202 : 503))
    }
    place.publish()
    #expect(place.bodies == ["version 2"])
    if hosts == 1 {
      #expect(place.ask("other") == 202 && place.hub.count == 2)
    }
    place.hub.cancel()
  }

  @Test func `changes during a delivery cause one more, with the latest content`() {
    let place = Place()
    place.ask("good")
    place.version = 2
    place.hub.changed()
    place.pass(2.0005)
    place.version = 3
    place.hub.changed()
    place.version = 4
    place.hub.changed()
    place.pass(60)
    #expect(place.sent.map(\.body).last == "version 4" && (1...2).contains(place.sent.count))
  }

  @Test func `HubSubscriber subscribes to FeedHub`() throws {
    let place = Place()
    let clock = Clock(place.time)
    let subscriber = HubSubscriber(
      at: URL(string: "https://me.example/websub")!, client: place.network, on: place.time, now: { clock.now })
    let cache = FeedCache(store: place.store, on: place.time, now: { clock.now })
    _ = FeedPoller([], client: place.network, cache: cache, store: place.store, on: place.time).notified(by: subscriber)
    let hub = place.hub!
    place.network.serve("feeds.example") { request, _ in
      let form = URLComponents(string: "?" + request.body.text)?.queryItems ?? []
      let reply = hub.take { name in form.first { $0.name == name }?.value }
      return .answer(status: reply.status, Data(reply.text.utf8))
    }
    place.network.serve("me.example") { request, _ in
      let url = request.request.url
      let reply: HubReply
      if request.request.method == .post {
        let signature = request.request.headers.first { $0.name == "X-Hub-Signature" }?.value
        reply = subscriber.announce(url.lastPathComponent, request.body, signature: signature)
      } else {
        let query = URLComponents(url: url, resolvingAgainstBaseURL: true)?.queryItems ?? []
        reply = subscriber.verify(url.lastPathComponent) { name in query.first { $0.name == name }?.value }
      }
      return .answer(status: reply.status, Data(reply.text.utf8))
    }
    var announced: [URL] = []
    let watch = subscriber.announcements.sink { announced.append($0) }
    var health = FeedHealth(address: URL(string: topic)!)
    health.hub = HubLink(hub: hub.url, topic: URL(string: topic)!)
    subscriber.polled(health)
    place.pass(10)
    #expect(hub.count == 1 && subscriber.isPushed(URL(string: topic)!))
    place.publish()
    #expect(announced == [URL(string: topic)!])
    watch.cancel()
    subscriber.cancel()
  }
}
