import FeedFleet
import Foundation
import PlainText

/// How a fleet is doing, in words and figures.
struct FleetStatusText: Sendable {
  let style: Style

  func text(of status: FleetStatus) -> String {
    var lines = [
      style.bold("\(Self.count(status.feeds, "feed")) on \(Self.count(status.hosts, "host"))"),
      "  due:      \(due(status))",
      "  taken:    \(Self.count(status.leases.count, "host"))",
      "  paused:   \(Self.count(status.pausedHosts, "host"))",
      "  polls:    \(status.pollsPerMinute) in the last minute\(Self.details(status.lastMinute))",
      "            in this one\(Self.details(status.thisMinute))",
      "  updates:  \(status.updates) in the log",
    ]
    if status.memory > 0 { lines.append("  memory:   \(status.memory >> 20) MiB in the store") }
    if let policy = status.evictionPolicy {
      lines.append(
        "  "
          + style.bad("the store deletes keys when its memory is full (\(policy.printable(limit: 40))): set noeviction")
      )
    }
    lines.append("  workers:  \(status.workers.isEmpty ? style.warning("none") : "\(status.workers.count)")")
    lines += status.workers.flatMap { worker(_: $0, status) }
    for pause in status.pauses.prefix(20) {
      let until = pause.until.map { "until \($0.stamp)" } ?? "until it is resumed"
      lines.append("  \(pause.host.printable) is left alone \(until), because \(pause.reason.printable(limit: 200))")
    }
    return lines.joined(separator: "\n") + "\n"
  }

  private func due(_ status: FleetStatus) -> String {
    guard status.dueFeeds > 0 else {
      guard let next = status.next else { return "nothing" }
      let wait = Duration.seconds(max(0, next.timeIntervalSince(status.now)).rounded(.up))
      return "nothing; the next host's time comes in \(Pulse.countdown(wait))"
    }
    let more = status.looked < status.dueHosts ? "at least " : ""
    let late = "\(more)\(Self.count(status.dueFeeds, "feed")) of \(Self.count(status.dueHosts, "host"))"
    let wait = Pulse.countdown(.seconds(status.lateness.components.seconds))
    return status.lateness > .seconds(60)
      ? style.warning("\(late), late by up to \(wait)") : "\(late), for up to \(wait)"
  }

  private func worker(_ worker: FleetStatus.Worker, _ status: FleetStatus) -> [String] {
    let held = status.leases.filter { $0.worker == worker.name }
    let seconds = max(0, Int(status.now.timeIntervalSince(worker.seen)))
    let seen = seconds > 15 ? style.bad("not heard of for \(seconds) s") : "heard of \(seconds) s ago"
    let polls = "\(worker.about["polls"] ?? 0) polls, \(worker.about["failures"] ?? 0) failed"
    var lines = [
      "    \(worker.name.printable)  \(seen); \(polls); holds \(held.count) of \(worker.about["concurrency"] ?? 0)"
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

  static func count(_ number: Int, _ name: String) -> String { "\(number) \(name)\(number == 1 ? "" : "s")" }

  static func json(_ status: FleetStatus) -> String {
    struct Form: Encodable {
      struct Worker: Encodable {
        var name: String
        var seen: Date
        var holds: [String]
        var about: [String: Int]
      }
      struct Pause: Encodable {
        var host: String
        var until: Date?
        var reason: String
      }
      var now: Date
      var feeds, hosts, dueFeeds, dueHosts: Int
      var latenessSeconds: Double
      var taken, paused, updates, memoryBytes, pollsPerMinute: Int
      var evictionPolicy: String?
      var lastMinute: [String: Int]
      var workers: [Worker]
      var pauses: [Pause]
    }
    let form = Form(
      now: status.now, feeds: status.feeds, hosts: status.hosts, dueFeeds: status.dueFeeds, dueHosts: status.dueHosts,
      latenessSeconds: status.lateness / .seconds(1), taken: status.leases.count, paused: status.pausedHosts,
      updates: status.updates, memoryBytes: status.memory, pollsPerMinute: status.pollsPerMinute,
      evictionPolicy: status.evictionPolicy,
      lastMinute: status.lastMinute,
      workers: status.workers.map { worker in
        .init(
          name: worker.name, seen: worker.seen, holds: status.leases.filter { $0.worker == worker.name }.map(\.host),
          about: worker.about)
      }, pauses: status.pauses.map { .init(host: $0.host, until: $0.until, reason: $0.reason) })
    let encoder = JSONEncoder()
    encoder.keyEncodingStrategy = .convertToSnakeCase
    encoder.dateEncodingStrategy = .iso8601
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    return ((try? encoder.encode(form)).map { String(decoding: $0, as: UTF8.self) } ?? "{}") + "\n"
  }

  static func metrics(_ status: FleetStatus) -> String {
    var text = ""
    func gauge(_ name: String, _ help: String, _ value: Double) {
      text += "# HELP feed_fleet_\(name) \(help)\n# TYPE feed_fleet_\(name) gauge\nfeed_fleet_\(name) \(value)\n"
    }
    gauge("feeds", "Feeds that are polled.", Double(status.feeds))
    gauge("hosts", "Hosts that have feeds.", Double(status.hosts))
    gauge("due_hosts", "Hosts that may be asked now and are not.", Double(status.dueHosts))
    gauge("due_feeds", "Feeds of these hosts that are due.", Double(status.dueFeeds))
    gauge("lateness_seconds", "How long the feed has waited that waits for longest.", status.lateness / .seconds(1))
    gauge("taken_hosts", "Hosts that workers have.", Double(status.leases.count))
    gauge("paused_hosts", "Hosts that are left alone.", Double(status.pausedHosts))
    gauge("workers", "Workers that were heard of in ten minutes.", Double(status.workers.count))
    gauge("updates", "Updates in the log.", Double(status.updates))
    gauge("store_memory_bytes", "Memory of the store.", Double(status.memory))
    gauge("store_evicts", "1 if the store deletes keys when its memory is full.", status.evictionPolicy == nil ? 0 : 1)
    text += "# HELP feed_fleet_last_minute Polls of the last whole minute.\n# TYPE feed_fleet_last_minute gauge\n"
    for name in ["changed", "unchanged", "failed", "superseded", "lost", "lapsed"] {
      text += "feed_fleet_last_minute{outcome=\"\(name)\"} \(status.lastMinute[name] ?? 0)\n"
    }
    return text
  }
}
