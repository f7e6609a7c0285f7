import FeedFleet
import Foundation
import PlainText

/// A fleet's status as text.
struct FleetStatusText: Sendable {
  let style: Style

  func text(of status: FleetStatus) -> String {
    var lines = [
      style.bold("\(counted(status.feeds, "feed")) on \(counted(status.hosts, "host"))"),
      "  due:      \(due(status))",
      "  leased:   \(counted(status.leases.count, "host"))",
      "  paused:   \(counted(status.pausedHosts, "host"))",
      "  polls:    \(status.pollsPerMinute) in the last minute\(Self.details(status.lastMinute))",
      "            in this one\(Self.details(status.thisMinute))",
      "  updates:  \(status.updates) in the log",
    ]
    if status.memory > 0 { lines.append("  memory:   \(status.memory >> 20) MiB in the store") }
    lines.append("  workers:  \(status.workers.isEmpty ? style.warning("none") : "\(status.workers.count)")")
    lines += status.workers.flatMap { worker(_: $0, status) }
    lines += troubles(status)
    for pause in status.pauses.prefix(20) {
      let until = pause.until.map { "until \($0.dayAndTime)" } ?? "until it is resumed"
      lines.append("  \(pause.host.printable) is paused \(until), because \(pause.reason.printable(limit: 200))")
    }
    return lines.joined(separator: "\n") + "\n"
  }

  private func due(_ status: FleetStatus) -> String {
    guard status.dueFeeds > 0 else {
      guard let next = status.next else { return "nothing" }
      let wait = Duration.seconds(max(0, next.timeIntervalSince(status.now)).rounded(.up))
      return "nothing; the next host is due in \(WatchStatus.countdown(wait))"
    }
    let more = status.isCut ? "at least " : ""
    let busy = status.queuedFeeds > 0 ? ", \(status.queuedFeeds) of them on busy hosts" : ""
    let late = "\(more)\(counted(status.dueFeeds, "feed"))"
    let wait = countdown(status.lateness)
    return status.lateness > .seconds(60)
      ? style.warning("\(late), late by up to \(wait)\(busy)") : "\(late), for up to \(wait)\(busy)"
  }

  private func countdown(_ duration: Duration) -> String {
    WatchStatus.countdown(.seconds(max(0, duration.components.seconds)))
  }

  /// The problems: hosts with long queues, feeds whose workers died, and a clock that was set.
  private func troubles(_ status: FleetStatus) -> [String] {
    var lines: [String] = []
    for queue in status.queues.prefix(5) {
      let wait = countdown(.seconds(status.now.timeIntervalSince(queue.since)))
      lines.append("            \(queue.host.printable): \(counted(queue.feeds, "feed")), for up to \(wait)")
    }
    if abs(status.clockAhead / .seconds(1)) > 2 {
      let ahead = status.clockAhead > .zero
      let difference = countdown(ahead ? status.clockAhead : .zero - status.clockAhead)
      lines.append(
        "  "
          + style.warning(
            "the store's clock was changed, and is \(difference) \(ahead ? "ahead of" : "behind") the fleet's time"))
    }
    for (address, times) in status.abandoned.sorted(by: { $0.key < $1.key }) {
      lines.append(
        "  " + style.warning("\(times) workers in a row died while requesting \(address.printable(limit: 200))"))
    }
    if let policy = status.evictionPolicy {
      lines.append(
        "  "
          + style.bad(
            "the store deletes keys when its memory is full (maxmemory-policy \(policy.printable(limit: 40))): "
              + "set that policy to noeviction")
      )
    }
    return lines
  }

  private func worker(_ worker: FleetStatus.Worker, _ status: FleetStatus) -> [String] {
    let held = status.leases.filter { $0.worker == worker.name }
    let seconds = max(0, Int(status.now.timeIntervalSince(worker.seen)))
    let seen = seconds > 15 ? style.bad("silent for \(seconds) s") : "seen \(seconds) s ago"
    let polls = "\(worker.about["polls"] ?? 0) polls, \(worker.about["failures"] ?? 0) failed"
    var lines = [
      "    \(worker.name.printable)  \(seen); \(polls); \(held.count) of \(worker.about["concurrency"] ?? 0) leases"
    ]
    for lease in held.prefix(5) {
      lines.append("      \(lease.host.printable)  \(lease.address.printable(limit: 200))")
    }
    if held.count > 5 { lines.append("      and \(held.count - 5) more") }
    return lines
  }

  private static func details(_ counts: [String: Int]) -> String {
    let words = ["changed", "unchanged", "failed", "superseded", "lost", "lapsed"].compactMap { name in
      counts[name].map { "\($0) \(name)" }
    }
    return ": " + (words.isEmpty ? "none" : words.joined(separator: ", "))
  }

  static func json(_ status: FleetStatus) -> String {
    struct Form: Encodable {
      struct Worker: Encodable {
        var name: String
        var seen: Date
        var holds: [String]
        var about: [String: Int]
      }
      var now: Date
      var feeds, hosts, dueFeeds, queuedFeeds, dueHosts: Int
      var latenessSeconds: Double
      var taken, paused, updates, memoryBytes, pollsPerMinute: Int
      var evictionPolicy: String?
      var queues: [FleetStatus.Queue]
      var abandoned: [String: Int]
      var clockAheadSeconds, latencySeconds: Double
      var totals: [String: Int]
      var lastMinute: [String: Int]
      var workers: [Worker]
      var pauses: [FleetStatus.Pause]
    }
    let form = Form(
      now: status.now, feeds: status.feeds, hosts: status.hosts, dueFeeds: status.dueFeeds,
      queuedFeeds: status.queuedFeeds, dueHosts: status.dueHosts,
      latenessSeconds: status.lateness / .seconds(1), taken: status.leases.count, paused: status.pausedHosts,
      updates: status.updates, memoryBytes: status.memory, pollsPerMinute: status.pollsPerMinute,
      evictionPolicy: status.evictionPolicy,
      queues: status.queues, abandoned: status.abandoned,
      clockAheadSeconds: status.clockAhead / .seconds(1), latencySeconds: status.latency / .seconds(1),
      totals: status.totals,
      lastMinute: status.lastMinute,
      workers: status.workers.map { worker in
        .init(
          name: worker.name, seen: worker.seen, holds: status.leases.filter { $0.worker == worker.name }.map(\.host),
          about: worker.about)
      }, pauses: status.pauses)
    return FeedJSON.harmless(encoded(form)) + "\n"
  }
}
