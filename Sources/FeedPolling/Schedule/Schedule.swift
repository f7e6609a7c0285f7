public import Foundation
import ImageFeed
import PlainText

/// Decides when a feed is polled again: a pure function of the known state.
///
/// After a feed has arrived, the next poll comes no earlier than the user's interval, the end of the response's
/// freshness, and the time that the document allows. It comes after a day at the latest, or after the user's interval
/// if that is longer. After each further failure, the next poll comes later. After a server's request for a pause, it
/// comes when the pause is over. A random delay spreads out feeds that started together. It is usually up to a tenth of
/// the wait; after a failure, its maximum doubles with each further failure. ``Rule/wholeDaily`` has no such delay.
public struct Schedule: Hashable, Sendable {
  /// The interval that the user has chosen; `nil` to adapt to how often the feed changes.
  public var interval: Duration?

  /// True when a hub announces the feed's changes.
  var isPushed = false

  public init(every interval: Duration?) { self.interval = interval }

  /// The interval of a feed whose changes a hub announces: 22 hours. With up to a tenth added at random, the feed is
  /// polled within 25 hours even if the announcements stop.
  public static let pushedInterval = Duration.seconds(22 * 3600)

  /// The longest time by which a server or a document can delay a poll, and the maximum back-off: a day.
  public static let longest = Duration.seconds(86_400)
  /// The pause for a server that requests one without specifying its length: ten minutes.
  public static let defaultPause = Duration.seconds(600)
  /// The shortest interval when the feed's own changes determine it: an hour.
  public static let shortestAdaptive = Duration.seconds(3600)
  /// The longest wait, beyond the interval, after a server error or a missing response: four hours.
  public static let longestAfterServerError = Duration.seconds(4 * 3600)

  /// The rule that decided when a feed is due.
  public enum Rule: String, Hashable, Sendable, Codable, CaseIterable {
    /// The user's interval.
    case interval
    /// The frequency of the feed's changes.
    case changes
    /// `Cache-Control` or `Expires`.
    case freshness
    /// RSS's `ttl`.
    case ttl
    /// `sy:updatePeriod` and `sy:updateFrequency`.
    case updatePeriod
    /// `skipHours` or `skipDays`.
    case skipped
    /// The pause that the server requests (`Retry-After` or `RateLimit`), or ten minutes if it doesn't specify one.
    case retryAfter
    /// Consecutive failures.
    case backOff
    /// A hub announces the feed's changes.
    case pushed
    /// The feed is no longer saved, and an unconditional request was sent less than a day ago.
    case wholeDaily
    /// Status 410: the feed is never polled automatically again.
    case gone
  }

  /// The next due time.
  public struct Due: Hashable, Sendable {
    /// The due time; `nil` for never.
    public var date: Date?
    /// The earliest time that the server or the document allows, whatever the user's interval.
    public var notBefore: Date
    public var rule: Rule
    /// The reason, worded to follow "because": a clause without a period.
    public var reason: String

    public init(_ date: Date?, notBefore: Date, _ rule: Rule, _ reason: String) {
      self.date = date
      self.notBefore = notBefore
      self.rule = rule
      self.reason = reason
    }
  }

  /// The next due time of a feed that was requested at `now` with the result `facts`.
  ///
  /// - Parameters:
  ///   - health: the feed's state, including this response.
  ///   - random: varies the time; the same numbers give the same time.
  public func due(
    after facts: AnswerFacts, _ health: FeedHealth, now: Date, using random: inout some RandomNumberGenerator
  ) -> Due {
    var due = dueByOutcome(facts, health, now: now, &random)
    if !facts.isSaved, let opens = health.opensForAll, let date = due.date, date < opens {
      due = Due(opens, notBefore: opens, .wholeDaily, Self.wholeReason)
    }
    return due
  }

  static let wholeReason = "nothing is saved anymore, so the whole feed is requested once a day"

  private func dueByOutcome(
    _ facts: AnswerFacts, _ health: FeedHealth, now: Date, _ random: inout some RandomNumberGenerator
  ) -> Due {
    if facts.pauses || facts.closed != nil { return afterPause(facts, now: now, &random) }
    switch facts.outcome {
    case .changed, .unchanged: return afterFeed(facts, health, now: now, &random)
    case .refused(410):
      return Due(nil, notBefore: .distantFuture, .gone, "the server says that the feed is gone for good")
    case .refused, .challenged, .notAFeed, .noAnswer: return afterFailure(facts, health, now: now, &random)
    }
  }

  /// The due time of a feed that was requested before, according to this schedule; the saved due time may come from a
  /// schedule with a different interval.
  public func due(_ health: FeedHealth, using random: inout some RandomNumberGenerator) -> Date? {
    guard let asked = health.asked, !health.isGone else { return health.isGone ? nil : .distantPast }
    if isAdopted(by: health) { return health.due }
    let wait = spread(self.interval?.seconds ?? health.adaptiveInterval(at: asked), atLeast: 0, &random)
    return max(health.notBefore ?? asked, asked + wait)
  }

  /// Sets the due time of ``due(_:using:)`` in a saved state, and the reason for it.
  func adopt(_ health: inout FeedHealth, using random: inout some RandomNumberGenerator) {
    health.due = due(health, using: &random)
    guard let asked = health.asked, !health.isGone, !isAdopted(by: health) else { return }
    health.interval = interval?.seconds
    // A time set by the server or the document keeps its recorded reason.
    let ownRules: Set<Rule?> = [.interval, .changes, .pushed]
    guard health.due != health.notBefore || ownRules.contains(health.rule) else { return }
    (health.rule, health.reason) = ownReason(interval?.seconds ?? health.adaptiveInterval(at: asked))
  }

  /// False if the due time comes from a schedule with a different interval, or from one whose hub announced changes.
  private func isAdopted(by health: FeedHealth) -> Bool {
    health.interval == interval?.seconds && (isPushed || health.rule != .pushed)
  }

  private func ownReason(_ seconds: Double) -> (Rule, String) {
    interval == nil
      ? (.changes, "the interval adapts to how often the feed changes")
      : (.interval, "the interval is \(Duration.seconds(seconds).brief)")
  }

  private func afterFeed(
    _ facts: AnswerFacts, _ health: FeedHealth, now: Date, _ random: inout some RandomNumberGenerator
  ) -> Due {
    let usual = interval?.seconds ?? health.adaptiveInterval(at: now)
    let own = isPushed ? max(usual, Self.pushedInterval.seconds) : usual
    let longest = max(Self.longest.seconds, own)
    var bound = Bound(seconds: 0, rule: .interval, reason: "")
    if let freshness = facts.freshness {
      bound.raise(
        to: freshness.lifetime.seconds, .freshness,
        "the server sets how long the response is fresh (\(freshness.field))")
    }
    let hints = health.hints
    if let minutes = hints.minutesToLive, minutes > 0 {
      let unit = minutes == 1 ? "minute" : "minutes"
      bound.raise(to: Double(minutes) * 60, .ttl, "the document sets the interval (ttl \(minutes) \(unit))")
    }
    if let period = hints.updateInterval, period > 0 {
      bound.raise(
        to: Double(period), .updatePeriod,
        "the document sets the interval (sy:updatePeriod and sy:updateFrequency: \(Duration.seconds(period).brief))")
    }
    if bound.seconds > longest {
      bound.seconds = longest
      bound.reason += "; the limit is one day"
    }
    let floor = max(own, bound.seconds)
    var date = now + spread(floor, atLeast: floor, &random)
    var rule = bound.rule
    var reason = bound.reason
    if own >= bound.seconds {
      (rule, reason) =
        own > usual ? (.pushed, "its hub announces changes, so it is polled only about once a day") : ownReason(own)
    }
    if let open = SkippedTimes(hints).next(after: date) {
      date = min(open + Double.random(in: 0...600, using: &random), max(date, now + longest))
      rule = .skipped
      reason = "the document says that nothing changes before then (skipHours, skipDays)"
    }
    let notBefore = rule == .skipped ? date : now + bound.seconds
    return Due(date, notBefore: notBefore, rule, reason)
  }

  private func afterPause(_ facts: AnswerFacts, now: Date, _ random: inout some RandomNumberGenerator) -> Due {
    let opens = facts.closed.map { max(0, min($0.until.timeIntervalSince(now), Self.longest.seconds)) }
    let pause = opens ?? facts.pause.seconds
    let own = interval?.seconds ?? Self.shortestAdaptive.seconds
    let floor = max(pause, own)
    return Due(
      now + spread(floor, atLeast: floor, &random), notBefore: now + pause, own > pause ? .interval : .retryAfter,
      own > pause
        ? "the interval is longer than the pause that the server requires" : facts.closed?.reason ?? facts.pauseReason)
  }

  private func afterFailure(
    _ facts: AnswerFacts, _ health: FeedHealth, now: Date, _ random: inout some RandomNumberGenerator
  ) -> Due {
    let own = interval?.seconds ?? Self.shortestAdaptive.seconds
    // A failed attempt to connect puts no load on a server, so the feed is requested soon after the network returns.
    let floor = facts.outcome == .noAnswer(wasAsked: false) ? min(own, 10) : own
    let cap = facts.isServerError ? Self.longestAfterServerError.seconds : Self.longest.seconds
    let room = min(cap, min(own, 60) * pow(2, Double(min(max(health.failures, 1), 30) - 1)))
    let wait = floor + Double.random(in: 0...room, using: &random)
    let count = health.failures == 1 ? "the last attempt failed" : "the last \(health.failures) attempts failed"
    return Due(now + wait, notBefore: now + wait, .backOff, count)
  }

  /// Varies a time by up to a tenth, but never below `floor`.
  private func spread(_ seconds: Double, atLeast floor: Double, _ random: inout some RandomNumberGenerator) -> Double {
    let wait = seconds + seconds * Double.random(in: -0.1...0.1, using: &random)
    return wait < floor ? floor + (floor - wait) : wait
  }

  private struct Bound {
    var seconds: Double
    var rule: Rule
    var reason: String

    mutating func raise(to seconds: Double, _ rule: Rule, _ reason: String) {
      if seconds > self.seconds { self = Bound(seconds: seconds, rule: rule, reason: reason) }
    }
  }
}
