public import FeedFormats
public import Foundation
import ImageFeed

/// The state of polling a feed: everything that the next poll depends on, and facts for users.
///
/// It is kept in a store, where other processes, and this one after a restart, can read it.
public struct FeedHealth: Hashable, Sendable {
  /// The URL that was subscribed to.
  public var address: URL
  /// The time when the feed is requested next; `nil` for never, and before the first request.
  public var due: Date?
  /// The earliest time that the server or the document allows.
  public var notBefore: Date?
  /// The interval for which ``due`` was computed, in seconds; `nil` for an adaptive interval.
  public var interval: Double?
  public var rule: Schedule.Rule?
  /// The reason for ``due``, worded to follow "because".
  public var reason = ""
  /// The time of the last request.
  public var asked: Date?
  /// The beginning of the running request, if known; `nil` if none is running.
  public var begun: Date?
  /// The time of the last unconditional request.
  public var askedForAll: Date?
  /// True if the feed's last response had validators, whether or not the feed is still saved.
  public var hadValidators: Bool?
  /// The time when the feed last arrived, or was last reported as unchanged.
  public var succeeded: Date?
  /// The time when the feed was last seen to have changed.
  public var changed: Date?
  /// The average time between changes, in seconds.
  public var changeInterval: Double?
  /// The number of consecutive failed attempts.
  public var failures = 0
  /// The result of the last attempt, as text.
  public var outcome = ""
  /// True after status 410.
  public var isGone = false
  /// The hints in the last document.
  public var hints = PollingHints()
  /// The target of permanent redirects, and the time when it became the target; see ``Move``.
  public var move: Move?
  /// The number of requests so far.
  public var polls = 0
  /// The hub that announces the feed's changes; `nil` if the feed names none.
  public var hub: HubLink?
  /// The subscription at that hub; `nil` when this program doesn't subscribe.
  public var push: PushLease?

  public init(address: URL) { self.address = address }

  /// A permanent redirect that is observed until it is trusted.
  public struct Move: Hashable, Sendable {
    public var to: URL
    /// The time when the redirect was first seen.
    public var since: Date
    /// True when the target has replaced the URL. That happens after seven days with the same target and a feed each
    /// time, or immediately if the redirect is from http to https on the same host.
    public var isBelieved: Bool
    /// True if the response to which the redirect led came from a private network; otherwise, `nil`. A response from a
    /// private network implies that the redirect came from there, too.
    var isFromPrivateNetwork: Bool?

    public init(to: URL, since: Date, isBelieved: Bool = false) {
      self.to = to
      self.since = since
      self.isBelieved = isBelieved
    }

    /// The time for which a redirect is observed: seven days.
    public static let probation = Duration.seconds(7 * 86_400)
    /// The number of consecutive failures after which the subscribed URL is used again: three.
    public static let patience = 3
  }

  /// Corrects the time of a request that is in the future because the clock was wrong. The due time moves by the same
  /// amount.
  mutating func correctClock(now: Date) {
    guard let asked, asked > now + FeedCachePolicy.clockTolerance.seconds else { return }
    let jump = asked.timeIntervalSince(now)
    self.asked = now
    due = due.map { $0 - jump }
    notBefore = notBefore.map { $0 == .distantFuture ? $0 : $0 - jump }
    if let all = askedForAll, all > now { askedForAll = now }
    if let changed, changed > now { self.changed = now }
    if let since = move?.since, since > now { move?.since = since - jump }
    push?.until? -= jump
  }

  /// The requested URL.
  public var requestAddress: URL {
    if let move, move.isBelieved, failures < Move.patience { move.to } else { address }
  }

  /// The earliest time for an unconditional request: a day after the last one, if the server sends validators. A server
  /// that sends none must send the whole feed each time. A request may be sent up to a minute after it is recorded.
  var opensForAll: Date? {
    guard hadValidators == true, let askedForAll else { return nil }
    return askedForAll + Schedule.longest.seconds + 60
  }

  /// True while another process may still be requesting the feed.
  func isBeingAsked(at now: Date, within limit: Duration) -> Bool {
    guard let begun else { return false }
    return begun <= now && now.timeIntervalSince(begun) < limit.seconds
  }

  /// The interval that suits the feed's changes: a third of their average interval, between an hour and a day. The
  /// longer the feed has been unchanged, the longer the interval.
  package func adaptiveInterval(at now: Date) -> Double {
    let quiet = changed.map { now.timeIntervalSince($0) } ?? 0
    let usual = max(changeInterval ?? 0, quiet)
    return min(max(usual / 3, Schedule.shortestAdaptive.seconds), Schedule.longest.seconds)
  }
}

extension FeedHealth {
  /// Updates the state with the result of the request that was sent at ``asked``.
  ///
  /// - Parameters:
  ///   - facts: the outcome.
  ///   - text: the outcome as text.
  ///   - now: the time of the response.
  mutating func note(_ facts: AnswerFacts, _ text: String, now: Date) {
    outcome = text
    begun = nil
    polls += 1
    if let hints = facts.hints { self.hints = hints }
    if facts.outcome.isSuccess { noteHub(facts) }
    noteMove(facts, now: now)
    isGone = facts.outcome == .refused(410)
    guard facts.outcome.isSuccess else {
      failures += 1
      return
    }
    failures = 0
    succeeded = now
    if facts.outcome == .changed {
      if let changed {
        let gap = max(0, now.timeIntervalSince(changed))
        changeInterval = changeInterval.map { $0 * 0.7 + gap * 0.3 } ?? gap
      }
      changed = now
    } else if changed == nil {
      changed = now
    }
  }

  /// Updates the hub. A response without a document doesn't change the hub that the last document named.
  private mutating func noteHub(_ facts: AnswerFacts) {
    if let link = facts.hub {
      hub = link
    } else if let hints = facts.hints {
      hub = HubLink(hints, at: requestAddress)
    } else {
      return
    }
    if facts.isFromPrivateNetwork == true { hub?.isFromPrivateNetwork = true }
  }

  /// Records a redirect. It counts only if it leads to a feed, so that the login page of a public network never
  /// replaces a URL.
  private mutating func noteMove(_ facts: AnswerFacts, now: Date) {
    guard facts.outcome.isSuccess else {
      if failures + 1 >= Move.patience { move = nil }
      return
    }
    if move?.isBelieved == true, facts.movedTo == nil { return }
    guard let target = facts.movedTo, target != address else {
      move = nil
      return
    }
    if move?.to != target { move = Move(to: target, since: now) }
    move?.isFromPrivateNetwork = facts.isFromPrivateNetwork == true ? true : nil
    let isUpgrade = target.isSecured(address)
    if isUpgrade || now.timeIntervalSince(move?.since ?? now) >= Move.probation.seconds { move?.isBelieved = true }
  }
}

extension URL {
  /// True for the same URL over TLS.
  func isSecured(_ other: URL) -> Bool {
    scheme == "https" && other.scheme == "http" && host() == other.host() && port == nil && other.port == nil
      && path() == other.path() && query() == other.query()
  }
}

extension URL {
  /// The host whose feeds share a queue, with its port if that isn't the scheme's default.
  public var pollingHost: String {
    let host = (host(percentEncoded: false) ?? "").lowercased()
    guard let port, port != (scheme?.lowercased() == "https" ? 443 : 80) else { return host }
    return "\(host):\(port)"
  }
}
