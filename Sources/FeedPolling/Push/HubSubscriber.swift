public import FeedHTTP
public import FeedStream
public import Foundation

/// Subscribes to feeds at the hubs that they name, so that those hubs announce changes (W3C WebSub).
///
/// Pass it to `FeedPoller.notified(by:)`.
///
/// A server passes requests for URLs below the callback URL to this object: GET requests to ``verify(_:_:)``, and POST
/// requests to ``announce(_:_:signature:)``. An announcement triggers a poll; its body is used only to check its
/// signature. The feed's content always comes from its own server. A feed without a valid lease is polled like any
/// other. Use it on its scheduler's thread.
public final class HubSubscriber {
  /// Options; each has a default.
  public struct Options: Sendable {
    /// The requested lease. Ten days by default; a hub may grant a different one.
    public var lease = Duration.seconds(864_000)
    /// The shortest lease that is accepted. Five minutes by default.
    public var shortestLease = Duration.seconds(300)
    /// The longest lease that is accepted; a longer one is shortened. 90 days by default.
    public var longestLease = Duration.seconds(90 * 86_400)
    /// The time between two requests to hubs. One second by default.
    public var gap = Duration.seconds(1)
    /// The time that a hub has to verify a subscription. One hour by default.
    public var patience = Duration.seconds(3600)
    /// The pause after a failure, which is doubled after each further failure, and the maximum pause. It applies to all
    /// feeds of a hub's host, to those of a hub's URL if it redirects to a host that doesn't work, or to one feed if
    /// the hub refuses that feed. Ten minutes and one day by default.
    public var pauses: ClosedRange<Duration> = .seconds(600)...(.seconds(86_400))

    public init() {}
  }

  struct Entry {
    var lease: PushLease
    /// The time of the next request to the hub.
    var next: Date
    /// True from the request until the hub has verified the subscription.
    var isAsked = false
    var failures = 0
    /// The latest signatures, to ignore repeated announcements.
    var seen: [String] = []

    /// The time at which there is something to do: the next request, or the end of the lease.
    var wakes: Date { min(next, lease.until ?? .distantFuture) }
  }

  /// A host of hubs, or a hub's URL, that has failed or hasn't verified a subscription.
  struct FailedHost {
    var failures = 0
    /// The time before which it gets no request for any feed.
    var opens = Date.distantPast
    /// True while one request is under way to find out whether the hub works again.
    var isTried = false
    /// The reason, worded to follow "because".
    var trouble = ""
  }

  /// A time at which an entry may have something to do.
  struct Wake: HeapEntry {
    let time: Date
    let number: Int
    /// The callback's path, which identifies the entry.
    let path: String

    func precedes(_ other: borrowing Wake) -> Bool {
      time != other.time ? time < other.time : number < other.number
    }
  }

  /// The URLs of feeds whose hubs have announced a change.
  public let announcements = PassthroughSubject<URL, Never>(of: "HubSubscriber")
  /// The URLs of feeds whose leases have ended or were withdrawn.
  let losses = PassthroughSubject<URL, Never>(of: "HubSubscriber")
  let callback: URL
  let client: any HTTPClient
  let scheduler: any LoopScheduler
  let options: Options
  let now: () -> Date
  var entries: [URL: Entry] = [:]
  var addresses: [String: URL] = [:]
  /// The hosts of hubs that don't work, by `URL.pollingHost`, and the hubs that redirect to such a host, by their URLs.
  var failed: [String: FailedHost] = [:]
  /// The times at which hosts that were reserved or paused are claimed again.
  var closed: [String: Date] = [:]
  /// The entries in the order of their times; an entry whose time has changed is found again at its new time.
  var agenda = Heap<Wake>()
  private var wakes = 0
  /// Claims the hosts of hubs; set by `FeedPoller.notified(by:)`, without which no request is sent.
  var visits: HostVisits!
  /// True from the claim of a hub's host until the gap after the response.
  var isBusy = false
  var claim: HostClaim?
  /// The hosts of the running request: the hub's, and those that redirects led to.
  var hosts: (visited: VisitedHosts, client: GuardedClient)?
  var request: AnyCancellable?
  let clock: PollingClock

  /// - Parameters:
  ///   - callback: the public URL below which hubs reach this program.
  ///   - client: sends the requests to hubs.
  ///   - now: the wall clock.
  public init(
    at callback: URL, client: any HTTPClient, on scheduler: any LoopScheduler, options: Options = Options(),
    now: @escaping () -> Date = { Date() }
  ) {
    self.callback = callback
    self.client = client
    self.scheduler = scheduler
    self.options = options
    self.now = now
    clock = PollingClock(scheduler, wall: now)
  }

  // MARK: For the poller

  /// The subscription for a feed, to be saved with the feed's state; `nil` if there is none.
  func lease(of address: URL) -> PushLease? { entries[address]?.lease }

  /// True while a hub announces changes to a feed.
  func isPushed(_ address: URL) -> Bool { entries[address]?.lease.isValid(at: now()) ?? false }

  /// Restores a feed's subscription from the feed's saved state: a valid lease continues; otherwise, a lease is
  /// requested at the next poll.
  func resume(_ health: FeedHealth) {
    guard entries[health.address] == nil, let hub = health.hub, var lease = health.push, let until = lease.until,
      lease.isValid(at: now()), lease.link.isSame(as: hub)
    else { return }
    lease.link = hub
    // A lease that ends later was saved while the clock was wrong.
    lease.until = min(until, now() + options.longestLease.seconds)
    add(Entry(lease: lease, next: renewal(of: lease)), of: health.address)
  }

  /// Subscribes if the feed names a hub, and drops the subscription if the feed no longer names that hub.
  func polled(_ health: FeedHealth) {
    guard !health.isGone, let link = health.hub else { return remove(health.address) }
    if let entry = entries[health.address], entry.lease.link.isSame(as: link) {
      // The feed may have come from another network this time.
      entries[health.address]?.lease.link = link
      return
    }
    remove(health.address)
    let lease = PushLease(link: link, path: Self.random(16), secret: Self.random(32))
    add(Entry(lease: lease, next: now()), of: health.address)
  }

  /// Drops a feed's subscription. The feed's hub learns of this at the hub's next announcement (status 410).
  func remove(_ address: URL) {
    guard let entry = entries.removeValue(forKey: address) else { return }
    addresses[entry.lease.path] = nil
  }

  /// Drops all subscriptions; their hubs learn of this at their next announcements.
  public func cancel() {
    (request, entries, addresses, failed, isBusy) = (nil, [:], [:], [:], false)
    agenda.removeAll()
    claim.take()?.cancel()
    endVisits()
    visits?.cancel()
    clock.cancel()
  }

  private func add(_ entry: Entry, of address: URL) {
    noticeClock()
    addresses[entry.lease.path] = address
    set(entry, of: address)
    goOn()
  }

  func set(_ entry: Entry, of address: URL) {
    entries[address] = entry
    wakes += 1
    agenda.insert(Wake(time: entry.wakes, number: wakes, path: entry.lease.path))
  }

  static func random(_ bytes: Int) -> String {
    (0..<bytes).map { _ in UInt8.random(in: 0 ... .max) }.hexDigits
  }

  // MARK: For the server

  /// Responds to a hub that checks whether a subscription is wanted (section 5.3), or denies it (section 5.2).
  ///
  /// - Parameters:
  ///   - path: the part of the request's path that follows the callback's path.
  ///   - query: returns the value of a field in the request's query.
  public func verify(_ path: String, _ query: (String) -> String?) -> HubReply {
    noticeClock()
    guard let address = addresses[path], var entry = entries[address],
      query("hub.topic") == entry.lease.link.topic.absoluteString
    else { return HubReply(404, "There is no such subscription.\n") }
    switch query("hub.mode") {
    case "denied":
      // A refusal without a request, or a repeated one, changes nothing.
      guard entry.isAsked || entry.lease.until != nil else { return HubReply(200) }
      let wasPushed = entry.lease.isValid(at: now())
      fail(
        &entry, "its hub refused the subscription\(query("hub.reason").map { " (\($0.prefix(100)))" } ?? "")",
        of: nil)
      entry.lease.until = nil
      set(entry, of: address)
      worked(entry.lease.link)
      goOn()
      if wasPushed { losses.send(address) }
      return HubReply(200)
    case "subscribe":
      // A hub to which no request was sent can't create a subscription.
      guard entry.isAsked, let challenge = query("hub.challenge"), (1...2048).contains(challenge.utf8.count),
        let text = query("hub.lease_seconds"), let seconds = Int(text),
        Double(seconds) >= options.shortestLease.seconds
      else { return HubReply(404, "There is no such subscription.\n") }
      (entry.isAsked, entry.failures, entry.lease.trouble) = (false, 0, "")
      entry.lease.until = now() + min(Double(seconds), options.longestLease.seconds)
      entry.next = renewal(of: entry.lease)
      set(entry, of: address)
      worked(entry.lease.link)
      goOn()
      return HubReply(200, challenge)
    default: return HubReply(404, "Unknown hub.mode.\n")
    }
  }

  /// Handles an announcement (section 7). An announcement without a valid signature, or a repeated one, is accepted and
  /// ignored.
  public func announce(_ path: String, _ body: Chunk, signature: String?) -> HubReply {
    guard let address = addresses[path], let entry = entries[address], entry.lease.isValid(at: now()) else {
      return HubReply(410, "There is no such subscription.\n")
    }
    guard let signature, HubSignature.isValid(signature, of: body, secret: entry.lease.secret) else {
      return HubReply(202)
    }
    let mark = signature.lowercased()
    // Announcements without a body all have the same signature.
    if body.count > 0 {
      guard !entry.seen.contains(mark) else { return HubReply(202) }
      entries[address]?.seen = Array((entry.seen + [mark]).suffix(32))
    }
    entries[address]?.lease.announced = now()
    announcements.send(address)
    return HubReply(202)
  }

  /// The time when nine tenths of a lease have passed.
  private func renewal(of lease: PushLease) -> Date {
    let left = max(0, lease.until?.timeIntervalSince(now()) ?? 0)
    return now() + left * 0.9
  }
}
