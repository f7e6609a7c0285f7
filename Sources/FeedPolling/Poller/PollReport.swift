import FeedStream
import Foundation
import ImageFeed

/// The outcome of a lease's request, as a value: the record is derived from this value and the result of saving the
/// feed.
struct PollReport: Sendable {
  enum Outcome: Sendable {
    case known(AnswerFacts, String)
    /// A feed from the server, changed or unchanged.
    case feed(AnswerFacts, status: Int?, images: Int)

    var facts: AnswerFacts {
      switch self {
      case .known(let facts, _), .feed(let facts, _, _): facts
      }
    }
  }

  var lease: PollLease
  var outcome: Outcome
  var wasConditional: Bool
  /// The minimum interval between two polls of the feed; `nil` to adapt.
  var interval: Duration?
  /// The host's pause after the request.
  var gap: Duration
  var now: Date
  /// The random numbers that spread the due time.
  var random: SplitMix64
  /// True when a hub announces the feed's changes.
  var isPushed = false

  /// True if the response had validators, false if it had none; `nil` if it had no document.
  var sentValidators: Bool?
  /// True if the last response came from a host other than the lease's, after a redirect or a link.
  var isFromElsewhere = false

  /// True if the host's pause is longer than usual.
  var pausesHost: Bool { HostPause(ownFacts(outcome.facts), gap: gap, now: now) != nil }

  /// The facts of the lease's host's own response: a redirect or a page, if the last response came from elsewhere.
  private func ownFacts(_ facts: AnswerFacts) -> AnswerFacts { isFromElsewhere ? AnswerFacts(.unchanged) : facts }

  /// - Parameter replacement: the result of saving the feed; `nil` if nothing was saved.
  func record(after replacement: FeedReplacement?) -> PollRecord {
    let (facts, text) = judged(after: replacement)
    var (health, host, random) = (lease.feed, HostHealth(name: lease.host), random)
    let hadFailed = health.failures > 0
    if facts.outcome == .noAnswer(wasAsked: false) {
      // A request that did not reach the server doesn't count.
      health.askedForAll = lease.askedForAllBefore
    } else if !wasConditional {
      health.askedForAll = health.asked
    }
    health.note(facts, text, now: now)
    if facts.outcome.isSuccess, let sentValidators { health.hadValidators = sentValidators }
    var schedule = Schedule(every: interval)
    schedule.isPushed = isPushed
    let due = schedule.due(after: facts, health, now: now, using: &random)
    health.interval = interval?.seconds
    (health.due, health.notBefore, health.rule, health.reason) = (due.date, due.notBefore, due.rule, due.reason)
    let own = ownFacts(facts)
    host.pace = HostPace.after(
      lease.pace, own, asked: health.asked ?? now, isRepeated: hadFailed, usual: gap.seconds, now: now)
    host.next = now + max(gap.seconds, host.pace?.rest ?? 0)
    if let pause = HostPause(own, gap: gap, now: now) {
      let knowsPace = own.pauses && own.saysNoPause && host.pace?.wasAttempt == true
      host.pausedUntil = knowsPace ? min(pause.until, now + (host.pace?.rest ?? 0)) : pause.until
      host.reason = pause.reason
    }
    let decision = PollDecision(
      time: health.asked ?? now, request: wasConditional ? "changes" : "the whole feed", outcome: text,
      due: due.date, rule: due.rule, reason: due.reason)
    let result: PollOutcome = facts.outcome.isSuccess ? (facts.outcome == .changed ? .changed : .unchanged) : .failed
    return PollRecord(feed: health, host: host, decision: decision, outcome: result)
  }

  private func judged(after replacement: FeedReplacement?) -> (AnswerFacts, String) {
    switch outcome {
    case .known(let facts, let text): return (facts, text)
    case .feed(var facts, let status, let images):
      if let replacement { facts.outcome = replacement == .replaced ? .changed : .unchanged }
      let news = facts.outcome == .unchanged ? "not changed" : "changed, \(images) \(images == 1 ? "image" : "images")"
      return (facts, (status.map { "status \($0), " } ?? "") + news)
    }
  }
}
