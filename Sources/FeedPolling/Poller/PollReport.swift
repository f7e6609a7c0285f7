import FeedStream
import Foundation
import ImageFeed

/// The outcome of a lease's request, as a value: the record follows from it, as soon as it is known what saving the feed did.
struct PollReport: Sendable {
  enum Outcome: Sendable {
    case known(AnswerFacts, String)
    /// A feed from the server, which is another one or the same.
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
  /// The least interval between two polls of the feed; `nil` adapts.
  var interval: Duration?
  /// The pause of the host after the request.
  var gap: Duration
  var now: Date
  /// Spreads the due time.
  var random: SplitMix64

  /// - Parameter replacement: what saving the feed did; `nil` when nothing was saved.
  func record(after replacement: FeedReplacement?) -> PollRecord {
    let (facts, text) = judged(after: replacement)
    var (health, host, random) = (lease.feed, HostHealth(name: lease.host), random)
    if facts.outcome == .noAnswer(wasAsked: false) {
      // A request that did not reach the server was none.
      health.askedForAll = lease.askedForAllBefore
    } else if !wasConditional {
      health.askedForAll = health.asked
    }
    health.note(facts, text, now: now)
    let due = Schedule(every: interval).due(after: facts, health, now: now, using: &random)
    health.interval = interval?.seconds
    (health.due, health.notBefore, health.rule, health.reason) = (due.date, due.notBefore, due.rule, due.reason)
    host.next = now + gap.seconds
    if facts.pauses {
      host.pausedUntil = now + facts.pause.seconds
      host.reason = due.reason
    }
    let decision = PollDecision(
      time: health.asked ?? now, request: wasConditional ? "changes" : "all of it", outcome: text,
      due: due.date, rule: due.rule, reason: due.reason)
    return PollRecord(feed: health, host: host, decision: decision)
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
