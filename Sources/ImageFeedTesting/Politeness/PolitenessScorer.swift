/// Judges every request as a server operator would.
///
/// The scorer watches from the server's side, in virtual time or on a real socket, and keeps its own record of
/// requests, responses and requested pauses. The rules are those that server operators publish (Rachel Kroll's "feed
/// reader score project" among them): see ``Rule``. Times are in seconds, from any single clock.
public final class PolitenessScorer {
  /// The rules that a polite client follows.
  public enum Rule: String, Hashable, Sendable, CaseIterable {
    /// A validator is sent back byte for byte as it was received.
    case exactValidators
    /// The same URL is requested at most once per ``PolitenessScorer/interval``.
    case hourly
    /// A feed that has validators is requested unconditionally at most once a day.
    case wholeDaily
    /// No request arrives during a pause that the server requested; if the pause is longer than a day, only the first
    /// day counts.
    case retryAfter
    /// A host receives at most one request at a time.
    case oneAtATime
    /// At least a second passes between the end of a request to a host and the next one.
    case secondApart
    /// In the first ten seconds after the poller restarts, at most twenty requests are for URLs that were requested
    /// before.
    case noBurst
    /// A feed that is gone is not requested.
    case gone
  }

  /// A request that broke a rule.
  public struct Fault: Hashable, Sendable, CustomStringConvertible {
    public var rule: Rule
    public var time: Double
    public var url: String
    public var detail: String

    public var description: String { "\(rule.rawValue) at \(time): \(url) \(detail)" }
  }

  /// A request as a server sees it.
  public struct Request: Hashable, Sendable {
    public var url: String
    public var host: String
    public var etag: String?
    public var lastModified: String?

    public init(url: String, host: String, etag: String? = nil, lastModified: String? = nil) {
      self.url = url
      self.host = host
      self.etag = etag
      self.lastModified = lastModified
    }

    var isConditional: Bool { etag != nil || lastModified != nil }
  }

  /// The parts of a server's response that matter to the rules.
  public struct Answer: Hashable, Sendable {
    public var status: Int
    public var etag: String?
    public var lastModified: String?
    /// The length of the pause that the server requested, in seconds.
    public var pause: Double?
    public var bytes: Int

    public init(status: Int, etag: String? = nil, lastModified: String? = nil, pause: Double? = nil, bytes: Int = 0) {
      self.status = status
      self.etag = etag
      self.lastModified = lastModified
      self.pause = pause
      self.bytes = bytes
    }
  }

  private struct Page {
    var asked: Double?
    var askedForAll: Double?
    var etags: Set<String> = []
    var dates: Set<String> = []
    /// True when the client got a complete response with validators.
    var hasValidators = false
    var isGone = false
  }

  private struct Host {
    var open = 0
    var asked: Double?
    var ended: Double?
    var closedUntil = -Double.infinity
  }

  public private(set) var faults: [Fault] = []
  public private(set) var requests = 0
  public private(set) var conditional = 0
  /// The number of bytes of all bodies sent.
  public private(set) var bytes = 0
  /// The rules to check: all by default.
  public var rules = Set(Rule.allCases)
  /// The minimum interval between requests for a URL: an hour by default, in seconds.
  public var interval = 3600.0
  /// The maximum time that a request takes to reach a server, in seconds; zero in virtual time.
  ///
  /// A client that was killed counts from the time when it sent its last request, but the server counts from that
  /// request's arrival.
  public var travelTime = 0.0
  /// The state before the last request for a URL.
  private var before: [String: (page: Page?, host: Host?)] = [:]
  private var pages: [String: Page] = [:]
  private var hosts: [String: Host] = [:]
  private var started: (at: Double, requests: Int)?

  public init() {}

  /// Records that the client was started again.
  public func restarted(at now: Double) {
    started = (now, 0)
    for host in hosts.keys { hosts[host]!.open = 0 }
  }

  /// Records that the client was killed before it could save the pause or validators of the last response from `url`.
  public func lost(_ url: String, of host: String) {
    pages[url]?.hasValidators = false
    pages[url]?.isGone = false
    hosts[host]?.closedUntil = -.infinity
    // The restarted client knows when its last request to this host began, but not when it ended.
    if let asked = pages[url]?.asked, asked == hosts[host]?.asked { hosts[host]!.ended = asked - travelTime }
  }

  /// Records the arrival of a request, and judges it.
  public func asked(_ request: Request, at now: Double) {
    before[request.url] = (pages[request.url], hosts[request.host])
    requests += 1
    if request.isConditional { conditional += 1 }
    var page = pages[request.url] ?? Page()
    var host = hosts[request.host] ?? Host()
    func judge(_ rule: Rule, _ isKept: Bool, _ detail: @autoclosure () -> String) {
      guard !isKept, rules.contains(rule) else { return }
      faults.append(Fault(rule: rule, time: now, url: request.url, detail: detail()))
    }
    judge(
      .exactValidators, request.etag.map(page.etags.contains) ?? true,
      "with the ETag \(request.etag ?? ""), which the server did not send")
    judge(
      .exactValidators, request.lastModified.map(page.dates.contains) ?? true,
      "with the date \(request.lastModified ?? ""), which the server did not send")
    if let asked = page.asked { judge(.hourly, now - asked >= interval * 0.99997, "after \(now - asked) s") }
    if !request.isConditional, page.hasValidators {
      if let all = page.askedForAll { judge(.wholeDaily, now - all >= 86_399.9, "after \(now - all) s") }
    }
    if !request.isConditional { page.askedForAll = now }
    judge(.retryAfter, now >= host.closedUntil, "\(host.closedUntil - now) s too soon")
    judge(.oneAtATime, host.open == 0, "with \(host.open) open")
    if let ended = host.ended { judge(.secondApart, now - ended >= 0.999, "after \(now - ended) s") }
    judge(.gone, !page.isGone, "")
    if page.asked != nil, var start = started, now - start.at < 10 {
      start.requests += 1
      started = start
      judge(.noBurst, start.requests <= 20, "is number \(start.requests)")
    }
    (page.asked, host.asked) = (now, now)
    host.open += 1
    pages[request.url] = page
    hosts[request.host] = host
  }

  /// Records that a request never reached its server, which therefore doesn't know about it.
  public func neverArrived(_ request: Request) {
    requests -= 1
    if request.isConditional { conditional -= 1 }
    guard let before = before[request.url] else { return }
    pages[request.url] = before.page
    hosts[request.host] = before.host
  }

  /// Records that a request has completed, with a complete response or without one.
  public func ended(_ request: Request, _ answer: Answer?, at now: Double) {
    // A killed client has no open requests, even if servers still respond.
    if let open = hosts[request.host]?.open { hosts[request.host]!.open = max(0, open - 1) }
    // A client that was killed after it sent this request doesn't know when the request ended, only when it was sent.
    let asked = pages[request.url]?.asked ?? now
    hosts[request.host]?.ended = started.map { asked <= $0.at } ?? false ? asked - travelTime : now
    guard let answer else { return }
    bytes += answer.bytes
    if answer.status == 200 || answer.status == 304 {
      if let etag = answer.etag { pages[request.url]?.etags.insert(etag) }
      if let date = answer.lastModified { pages[request.url]?.dates.insert(date) }
    }
    if answer.status == 200 {
      pages[request.url]?.hasValidators = answer.etag != nil || answer.lastModified != nil
    }
    if answer.status == 410 { pages[request.url]?.isGone = true }
    if let pause = answer.pause { hosts[request.host]?.closedUntil = now + min(pause, 86_400) - 0.001 }
  }
}
