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
    /// The pause after a failure, which is doubled after each further failure, and the maximum pause. Ten minutes and
    /// one day by default.
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
  }

  /// The URLs of feeds whose hubs have announced a change.
  public let announcements = PassthroughSubject<URL, Never>(of: "HubSubscriber")
  let callback: URL
  let client: any HTTPClient
  let scheduler: any LoopScheduler
  let options: Options
  let now: () -> Date
  var entries: [URL: Entry] = [:]
  private var addresses: [String: URL] = [:]
  private var request: AnyCancellable?
  private var timer: (any Cancellable)?

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
  }

  // MARK: For the poller

  /// The subscription for a feed, to be saved with the feed's state; `nil` if there is none.
  func lease(of address: URL) -> PushLease? { entries[address]?.lease }

  /// True while a hub announces changes to a feed.
  func isPushed(_ address: URL) -> Bool { entries[address]?.lease.isValid(at: now()) ?? false }

  /// Restores a feed's subscription from the feed's saved state: a valid lease continues; otherwise, a lease is
  /// requested at the next poll.
  func resume(_ health: FeedHealth) {
    guard entries[health.address] == nil, let lease = health.push, lease.isValid(at: now()), lease.link == health.hub
    else {
      return
    }
    add(Entry(lease: lease, next: renewal(of: lease)), of: health.address)
  }

  /// Subscribes if the feed names a hub, and drops the subscription if the feed no longer names that hub.
  func polled(_ health: FeedHealth) {
    let link = health.isGone ? nil : health.hub
    if let entry = entries[health.address], entry.lease.link != link { remove(health.address) }
    guard let link, entries[health.address] == nil else { return }
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
    (request, entries, addresses) = (nil, [:], [:])
    timer.take()?.cancel()
  }

  private func add(_ entry: Entry, of address: URL) {
    entries[address] = entry
    addresses[entry.lease.path] = address
    goOn()
  }

  static func random(_ bytes: Int) -> String {
    HubSignature.hex((0..<bytes).map { _ in UInt8.random(in: 0 ... .max) })
  }

  // MARK: For the server

  /// Responds to a hub that checks whether a subscription is wanted (section 5.3), or denies it (section 5.2).
  ///
  /// - Parameters:
  ///   - path: the part of the request's path that follows the callback's path.
  ///   - query: returns the value of a field in the request's query.
  public func verify(_ path: String, _ query: (String) -> String?) -> HubReply {
    guard let address = addresses[path], var entry = entries[address],
      query("hub.topic") == entry.lease.link.topic.absoluteString
    else { return HubReply(404, "There is no such subscription.\n") }
    defer {
      entries[address] = entry
      goOn()
    }
    switch query("hub.mode") {
    case "denied":
      failed(&entry, "its hub refused the subscription\(query("hub.reason").map { " (\($0.prefix(100)))" } ?? "")")
      entry.lease.until = nil
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

  // MARK: Hubs

  /// The time when nine tenths of a lease have passed.
  private func renewal(of lease: PushLease) -> Date {
    let left = max(0, lease.until?.timeIntervalSince(now()) ?? 0)
    return now() + left * 0.9
  }

  private func failed(_ entry: inout Entry, _ reason: String) {
    entry.isAsked = false
    entry.lease.trouble = reason
    let pause = options.pauses.lowerBound.seconds * pow(2, Double(min(entry.failures, 20)))
    entry.next = now() + min(pause, options.pauses.upperBound.seconds)
    entry.failures += 1
  }

  /// Sends the due request, or waits for the next one.
  private func goOn() {
    guard request == nil else { return }
    timer.take()?.cancel()
    guard
      let (address, entry) = entries.min(by: {
        ($0.value.next, $0.key.absoluteString) < ($1.value.next, $1.key.absoluteString)
      })
    else { return }
    let wait = entry.next.timeIntervalSince(now())
    if wait <= 0 { return subscribe(address, entry) }
    // At most a day, because the clock may be set.
    timer = scheduler.once(after: .seconds(min(wait, 86_400))) { [weak self] in
      self?.timer = nil
      self?.goOn()
    }
  }

  private func subscribe(_ address: URL, _ old: Entry) {
    var entry = old
    if entry.isAsked { failed(&entry, "its hub hasn't verified the subscription") }
    guard entry.next <= now() else {
      entries[address] = entry
      return goOn()
    }
    // The hub may verify before it responds.
    (entry.isAsked, entry.next) = (true, now() + options.patience.seconds)
    entries[address] = entry
    var wish = HTTPRequest(entry.lease.link.hub)
    wish.method = .post
    wish.body = .form([
      "hub.mode": "subscribe", "hub.topic": entry.lease.link.topic.absoluteString,
      "hub.callback": callback.appendingPathComponent(entry.lease.path).absoluteString,
      "hub.lease_seconds": "\(Int(options.lease.seconds))", "hub.secret": entry.lease.secret,
    ])
    // A feed must not lead into a private network.
    wish.origin = address
    request = client.get(wish)
      .map { (200...299).contains($0.status) ? nil : "its hub responded with status \($0.status)" as String? }
      .catch { Just<String?>("the request to its hub failed (\($0))") }
      .delay(for: options.gap, scheduler: scheduler)
      .sink { [weak self] trouble in
        guard let self else { return }
        request = nil
        if let trouble, var entry = entries[address], entry.lease.path == old.lease.path {
          failed(&entry, trouble)
          entries[address] = entry
        }
        goOn()
      }
  }
}
