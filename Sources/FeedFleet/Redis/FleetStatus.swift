public import FeedPolling
public import Foundation

/// The state of a fleet.
public struct FleetStatus: Hashable, Sendable {
  public struct Worker: Hashable, Sendable {
    public var name: String
    /// The time when the worker was last seen, by the engine's clock.
    public var seen: Date
    /// The figures that the worker reports: `concurrency`, `running`, `polls` and `failures`; the engine's `errors`;
    /// and the `latency` of its last claim, in microseconds.
    public var about: [String: Int]
  }

  public struct Lease: Hashable, Sendable {
    public var host: String
    public var worker: String
    public var address: String
    public var until: Date
  }

  /// The due and waiting feeds of one host.
  public struct Queue: Encodable, Hashable, Sendable {
    public var host: String
    public var feeds: Int
    /// The time when the first of these feeds was due.
    public var since: Date
  }

  public struct Pause: Encodable, Hashable, Sendable {
    public var host: String
    /// The end of the pause; `nil` if the pause has none.
    public var until: Date?
    public var reason: String
  }

  /// The current time by the engine's clock.
  public var now: Date
  public var feeds: Int
  public var hosts: Int
  /// The number of hosts that may be polled now but aren't.
  public var dueHosts: Int
  /// The number of feeds that are due but not being requested; there may be more if ``isCut`` is true. Feeds of paused
  /// hosts don't count.
  public var dueFeeds: Int
  /// The number of those feeds that are waiting for other feeds on the same host, because a request to the host is
  /// running or the host is resting.
  public var queuedFeeds: Int
  /// The due time of the feed that has waited longest.
  public var oldestDue: Date?
  /// True when there are more free or leased hosts than were examined.
  public var isCut: Bool
  /// The hosts with the most waiting feeds, at most ten.
  public var queues: [Queue]
  public var leases: [Lease]
  public var pausedHosts: Int
  /// The first few paused hosts.
  public var pauses: [Pause]
  public var workers: [Worker]
  /// The counts of the previous minute: `changed`, `unchanged`, `failed`, `superseded`, `lost`, `lapsed`.
  public var lastMinute: [String: Int]
  public var thisMinute: [String: Int]
  public var updates: Int
  /// The time when the next host is due.
  public var next: Date?
  /// The position of the log's end.
  public var logEnd: UpdateCursor
  /// The feeds whose workers died at least three times in a row, and the number of times; they are requested less
  /// often.
  public var abandoned: [String: Int]
  /// Counts since the fleet began: the same as in ``lastMinute``, and `claimed`.
  public var totals: [String: Int]
  /// For each bound on lateness, the number of polls up to that bound; and the total lateness of all polls. Both times
  /// are in seconds.
  public var latePolls: (upTo: [(seconds: Int, polls: Int)], sum: Double) {
    var polls = 0
    let upTo = FleetRules.lateness.map { limit -> (seconds: Int, polls: Int) in
      polls += totals["late:\(limit)"] ?? 0
      return (limit, polls)
    }
    return (upTo, Double(totals["late"] ?? 0) / 1000)
  }
  /// The time by which the engine's clock is ahead of the fleet's time, which follows it. A difference of more than a
  /// few seconds means that the clock was set.
  public var clockAhead: Duration
  /// The time that the engine took to reply.
  public var latency: Duration
  /// The number of error replies from the engine since it started, by the first word of the reply.
  public var refusals: [String: Int]
  /// The number of bytes of memory that the engine uses; 0 when it does not report this.
  public var memory: Int
  /// The engine's eviction policy, if that policy deletes keys when memory is full, and feeds could be lost; `nil` if
  /// the engine keeps its keys or doesn't report the policy.
  public var evictionPolicy: String?

  /// The lateness of the feed that has been due longest.
  public var lateness: Duration { oldestDue.map { .seconds(max(0, now.timeIntervalSince($0))) } ?? .zero }

  /// The number of polls in the previous minute.
  public var pollsPerMinute: Int { ["changed", "unchanged", "failed"].reduce(0) { $0 + (lastMinute[$1] ?? 0) } }
}
