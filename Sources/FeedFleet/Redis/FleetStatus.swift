public import FeedPolling
public import Foundation

/// How a fleet is doing.
public struct FleetStatus: Hashable, Sendable {
  public struct Worker: Hashable, Sendable {
    public var name: String
    /// When it was last seen, by the engine's clock.
    public var seen: Date
    /// Its own figures: `concurrency`, `running`, `polls`, `failures`; `errors` of the engine, and the `latency` of its last claim in
    /// microseconds.
    public var about: [String: Int]
  }

  public struct Lease: Hashable, Sendable {
    public var host: String
    public var worker: String
    public var address: String
    public var until: Date
  }

  /// Feeds of one host that are due, and wait.
  public struct Queue: Hashable, Sendable {
    public var host: String
    public var feeds: Int
    /// When the first of them was due.
    public var since: Date
  }

  public struct Pause: Hashable, Sendable {
    public var host: String
    /// `nil` for one without an end.
    public var until: Date?
    public var reason: String
  }

  /// The engine's clock.
  public var now: Date
  public var feeds: Int
  public var hosts: Int
  /// How many hosts may be polled now and aren't.
  public var dueHosts: Int
  /// The number of feeds that are due and not requested; at least that many when ``isCut``. Those of paused hosts are not among them.
  public var dueFeeds: Int
  /// How many of these wait for others of their host, which is requested, or rests.
  public var queuedFeeds: Int
  /// When the feed was due that has waited for longest.
  public var oldestDue: Date?
  /// True when there are more hosts than were looked at, of those that have time or are taken.
  public var isCut: Bool
  /// The hosts with the most feeds that wait, at most ten.
  public var queues: [Queue]
  public var leases: [Lease]
  public var pausedHosts: Int
  /// The first of the paused hosts.
  public var pauses: [Pause]
  public var workers: [Worker]
  /// Counts of the minute before this one: `changed`, `unchanged`, `failed`, `superseded`, `lost`, `lapsed`.
  public var lastMinute: [String: Int]
  public var thisMinute: [String: Int]
  public var updates: Int
  /// When the next host's time comes.
  public var next: Date?
  /// The end of the log.
  public var logEnd: UpdateCursor
  /// Feeds whose workers died, three times in a row or more: they are requested less often.
  public var abandoned: [String: Int]
  /// Counts since the fleet began: those of ``lastMinute``, and `claimed`.
  public var totals: [String: Int]
  /// The number of polls for each upper limit of their lateness in seconds, and all of them together in seconds.
  public var latePolls: (upTo: [(seconds: Int, polls: Int)], sum: Double) { Self.latePolls(totals) }
  /// How far the engine's clock is ahead of the fleet's time, which follows it: beyond seconds, it was set.
  public var clockAhead: Duration
  /// How long the engine took to reply.
  public var latency: Duration
  /// How many refusals the engine has replied since it started, by their first word.
  public var refusals: [String: Int]
  /// How many bytes the engine uses; 0 when it does not say.
  public var memory: Int
  /// The rule by which the engine deletes keys when its memory is full, which loses feeds; `nil` when it keeps them, or does not say.
  public var evictionPolicy: String?

  /// How long the feed has waited that waits for longest.
  public var lateness: Duration { oldestDue.map { .seconds(max(0, now.timeIntervalSince($0))) } ?? .zero }

  /// Polls of the minute before this one.
  public var pollsPerMinute: Int { ["changed", "unchanged", "failed"].reduce(0) { $0 + (lastMinute[$1] ?? 0) } }

  private static func latePolls(_ totals: [String: Int]) -> (upTo: [(seconds: Int, polls: Int)], sum: Double) {
    var polls = 0
    let upTo = FleetRules.lateness.map { limit -> (seconds: Int, polls: Int) in
      polls += totals["late:\(limit)"] ?? 0
      return (limit, polls)
    }
    return (upTo, Double(totals["late"] ?? 0) / 1000)
  }
}
