import FeedFleet
import FeedStream
import Foundation

/// A fleet's metrics in the text format of Prometheus.
struct FleetMetrics {
  private(set) var text = ""

  private static let outcomes = ["changed", "unchanged", "failed", "superseded", "lost", "lapsed", "abandoned"]

  init(_ status: FleetStatus) {
    gauge("feeds", "Feeds that are polled.", Double(status.feeds))
    gauge("hosts", "Hosts that have feeds.", Double(status.hosts))
    gauge("due_hosts", "Due hosts without a running request.", Double(status.dueHosts))
    gauge("due_feeds", "Due feeds without a running request.", Double(status.dueFeeds))
    gauge("queued_feeds", "Due feeds whose hosts are busy, or pausing between requests.", Double(status.queuedFeeds))
    gauge("lateness_seconds", "Longest time that a due feed has waited.", status.lateness / .seconds(1))
    gauge("taken_hosts", "Hosts leased to workers.", Double(status.leases.count))
    gauge("paused_hosts", "Paused hosts.", Double(status.pausedHosts))
    gauge(
      "abandoned_feeds", "Feeds whose workers died at least three times in a row; at most 10 are counted.",
      Double(status.abandoned.count))
    gauge("workers", "Workers seen in the last ten minutes.", Double(status.workers.count))
    gauge("updates", "Updates in the log.", Double(status.updates))
    gauge("store_memory_bytes", "Memory that the store uses.", Double(status.memory))
    gauge("store_evicts", "1 if the store deletes keys when its memory is full.", status.evictionPolicy == nil ? 0 : 1)
    gauge("store_latency_seconds", "Time that the store took to reply.", status.latency / .seconds(1))
    gauge("store_clock_ahead_seconds", "The store's clock minus the fleet's time.", status.clockAhead / .seconds(1))
    family("queue_feeds", "gauge", "Waiting feeds per host, for the ten hosts with the most waiting feeds.")
    for queue in status.queues { sample("queue_feeds", [("host", queue.host)], Double(queue.feeds)) }
    family("last_minute", "gauge", "Polls in the last full minute.")
    for name in Self.outcomes { sample("last_minute", [("outcome", name)], Double(status.lastMinute[name] ?? 0)) }
    family("polls_total", "counter", "Polls since the fleet was created.")
    for name in Self.outcomes { sample("polls_total", [("outcome", name)], Double(status.totals[name] ?? 0)) }
    late(status)
    family("store_refusals_total", "counter", "Commands that the store has refused since it started, from any client.")
    for (code, count) in status.refusals.sorted(by: { $0.key < $1.key }) {
      sample("store_refusals_total", [("code", code)], Double(count))
    }
    workers(status)
  }

  /// Adds the histogram of the polls' lateness.
  private mutating func late(_ status: FleetStatus) {
    let (upTo, sum) = status.latePolls
    family("poll_lateness_seconds", "histogram", "Time between a feed's due time and the worker's claim.")
    for (seconds, polls) in upTo.dropLast() {
      sample("poll_lateness_seconds_bucket", [("le", "\(seconds)")], Double(polls))
    }
    let all = Double(upTo.last?.polls ?? 0)
    sample("poll_lateness_seconds_bucket", [("le", "+Inf")], all)
    sample("poll_lateness_seconds_sum", [], sum)
    sample("poll_lateness_seconds_count", [], all)
  }

  private mutating func workers(_ status: FleetStatus) {
    let figures: [(name: String, help: String, value: (FleetStatus.Worker) -> Double)] = [
      ("worker_silent_seconds", "Time since a worker was last seen.", { status.now.timeIntervalSince($0.seen) }),
      ("worker_polls", "Polls by a worker since it started.", { Double($0.about["polls"] ?? 0) }),
      ("worker_errors", "Errors that a worker received from the store.", { Double($0.about["errors"] ?? 0) }),
      (
        "worker_latency_seconds", "Time that a worker's last claim took.", { Double($0.about["latency"] ?? 0) / 1e6 }
      ),
    ]
    for figure in figures {
      family(figure.name, "gauge", figure.help)
      for worker in status.workers { sample(figure.name, [("worker", worker.name)], figure.value(worker)) }
    }
  }

  /// Adds a gateway's lag behind the log.
  ///
  /// - Parameter place: the id of the last update that the gateway has read; `nil` if it hasn't read any.
  mutating func gateway(at place: String?, _ status: FleetStatus) {
    guard let place, let end = Self.milliseconds(status.logEnd.description), let here = Self.milliseconds(place) else {
      return
    }
    gauge(
      "gateway_lag_seconds", "Time between the last update that this gateway has read and the end of the log.",
      max(0, end - here) / 1000)
  }

  private static func milliseconds(_ id: String) -> Double? { Double(id.prefix { $0 != "-" }) }

  private mutating func gauge(_ name: String, _ help: String, _ value: Double) {
    family(name, "gauge", help)
    sample(name, [], value)
  }

  private mutating func family(_ name: String, _ kind: String, _ help: String) {
    text += "# HELP feed_fleet_\(name) \(help)\n# TYPE feed_fleet_\(name) \(kind)\n"
  }

  private mutating func sample(_ name: String, _ labels: [(String, String)], _ value: Double) {
    let words = labels.map { "\($0)=\"\($1.metricLabel)\"" }
    text += "feed_fleet_\(name)\(words.isEmpty ? "" : "{\(words.joined(separator: ","))}") \(value)\n"
  }
}
