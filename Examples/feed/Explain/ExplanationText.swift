import FeedPolling
import Foundation
import ImageFeed
import PlainText

/// An explanation as text. Text from servers is escaped.
struct ExplanationText: Sendable {
  let style: Style
  let now: Date
  /// The feed's entry in the user's list; `nil` to leave it out.
  var listed: String?

  func text(of explanation: FeedExplanation) -> String {
    var lines = [style.bold(explanation.address.shown), "  saved:  \(saved(explanation.saved))"]
    if let listed { lines.append("  list:   \(listed)") }
    if let health = explanation.health {
      lines.append("  last:   \(last(health))")
      lines.append("  next:   \(next(health, on: explanation.host))")
      if let move = health.move { lines.append("  moved:  \(moved(move))") }
      if let push = push(of: health) { lines.append("  push:   \(push)") }
    } else {
      lines.append("  next:   not scheduled, because it has never been polled")
    }
    if let pause = pause(of: explanation.host) { lines.append("  host:   \(pause)") }
    if let host = explanation.host, let pace = host.pace { lines += self.pace(pace, of: host) }
    if !explanation.decisions.isEmpty {
      lines.append("  decisions, the latest first:")
      lines += explanation.decisions.reversed().map { "    \(line($0))" }
    }
    return lines.joined(separator: "\n") + "\n"
  }

  /// One decision, as `explain` and `--verbose` show it.
  func line(_ decision: PollDecision) -> String {
    let due = decision.due.map { "next at \($0.dayAndSecond)" } ?? "never again automatically"
    return "\(decision.time.dayAndSecond): requested \(decision.request): \(clause(decision.outcome)); \(due), "
      + reason(decision.reason, decision.rule)
  }

  /// The reason for a due time, and the rule's name for `docs/Polling.md`.
  private func reason(_ reason: String, _ rule: Schedule.Rule?) -> String {
    let reason = "because \(reason.printable)"
    guard let name = rule?.rawValue else { return reason }
    return reason.hasSuffix(")") ? "\(reason.dropLast()); \(name))" : "\(reason) (\(name))"
  }

  /// The time until a date that is after now.
  private func wait(until date: Date) -> String {
    let seconds = date.timeIntervalSince(now)
    guard seconds > 3600 else { return "in \(WatchStatus.countdown(.seconds(seconds.rounded(.up))))" }
    let minutes = Int((seconds / 60).rounded(.up))
    return "in \(minutes / 60)h" + (minutes % 60 > 0 ? "\(minutes % 60)m" : "")
  }

  private func saved(_ summary: CachedFeedSummary?) -> String {
    guard let summary else { return "nothing" }
    let age = FeedCachePolicy.age(of: summary.timestamp, now: now).ago
    var parts = ["\(counted(summary.imageCount, "image")), last confirmed \(age) (\(summary.timestamp.dayAndTime))"]
    if let etag = summary.validators.etag { parts.append("ETag \(etag.printable(limit: 80))") }
    if let date = summary.validators.lastModified { parts.append("Last-Modified \(date.printable(limit: 80))") }
    if summary.validators.isEmpty { parts.append("no validators: each request fetches the whole feed") }
    return parts.joined(separator: "; ")
  }

  private func last(_ health: FeedHealth) -> String {
    guard let asked = health.asked else { return "never requested" }
    let failures = health.failures > 1 ? style.warning("; \(health.failures) attempts in a row failed") : ""
    return "requested \(FeedCachePolicy.age(of: asked, now: now).ago) (\(asked.dayAndTime)): "
      + "\(health.outcome.isEmpty ? "no response yet" : clause(health.outcome))\(failures)"
  }

  private func next(_ health: FeedHealth, on host: HostHealth?) -> String {
    if !health.isGone, let host, let end = host.pausedUntil, end > now, end > health.due ?? now {
      return "\(style.bold(wait(until: end))) (\(end.dayAndTime)), because its host is paused until then: "
        + host.reason.printable
    }
    let reason = reason(health.reason, health.rule)
    guard !health.isGone else {
      return style.bad("never automatically") + ", \(reason); \"feed load\" still requests it"
    }
    guard let due = health.due else { return "not scheduled" }
    return "\(style.bold(due > now ? wait(until: due) : "now")) (\(due.dayAndTime)), \(reason)"
  }

  private func moved(_ move: FeedHealth.Move) -> String {
    let target = move.to.shown
    return move.isBelieved
      ? "it is requested at \(target)"
      : "it has redirected to \(target) since \(move.since.dayAndTime); after seven days with the same target, "
        + "it will be requested there"
  }

  private func push(of health: FeedHealth) -> String? {
    guard let hub = health.hub else { return nil }
    let name = hub.hub.shown
    guard let push = health.push else { return "\(name) can announce changes to \"feed serve --public-url\"" }
    if let until = push.until, until > now {
      let last = push.announced.map { ", the last one \(FeedCachePolicy.age(of: $0, now: now).ago)" } ?? ""
      return "\(name) announces changes until \(until.dayAndTime)\(last)"
    }
    let reason = push.trouble.isEmpty ? "it has not confirmed the subscription yet" : push.trouble.printable
    return "\(name) announces nothing, because \(reason); the feed is polled instead"
  }

  private func pause(of host: HostHealth?) -> String? {
    guard let host else { return nil }
    guard let end = host.pausedUntil, end > now else { return "\(host.name.printable) is not paused" }
    return style.warning("\(host.name.printable) is paused until \(end.dayAndTime)")
      + ", because \(host.reason.printable); this applies to all of its feeds, but \"feed load\" still "
      + "requests them"
  }

  private func pace(_ pace: HostPace, of host: HostHealth) -> [String] {
    let stated = pace.quotaAt.map { ", as of \($0.dayAndTime)" } ?? ""
    return pace.words(for: host.name.printable).map { "  pace:   \($0)\($0.hasSuffix("(RateLimit)") ? stated : "")" }
  }

  /// The sentences as one clause, because text follows them.
  private func clause(_ text: String) -> String {
    let text = text.printable(limit: 300)
    return (text.hasSuffix(".") ? text.dropLast() : text[...]).split(separator: ". ").enumerated()
      .map { $0 == 0 ? String($1) : $1.prefix(1).lowercased() + $1.dropFirst() }
      .joined(separator: "; ")
  }
}
