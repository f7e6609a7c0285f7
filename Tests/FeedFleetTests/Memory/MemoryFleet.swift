import FeedRedis
import FeedStream
import Foundation
import ImageFeed

@testable import FeedPolling

/// A fleet's work and updates in memory, for histories in virtual time, and to see an engine's behavior in one place.
///
/// It does what the scripts of ``RedisFleet`` do, step by step, and answers later, as an engine does. A copy of its
/// ``State`` that is put back is a failover: what was written since is lost.
final class MemoryFleet {
  struct Lease {
    var nonce: String
    var until: Date
    var worker: String
    var address: URL
  }

  struct Feed {
    var version: FeedVersion?
    var record: FeedRecord?
    var document: Chunk?
  }

  struct Host {
    /// The time when each feed is due; `distantFuture` for never.
    var feeds: [URL: Date] = [:]
    var opens = Date.distantFuture
    var lease: Lease?
    var pausedUntil: Date?
    var reason = ""
    /// Until when it is left alone after a request.
    var rests = Date.distantPast
    var pace: HostPace?

    /// True when there is nothing to remember of it.
    func isOver(at now: Date) -> Bool {
      feeds.isEmpty && lease == nil && pausedUntil.map { $0 <= now } ?? true && rests <= now
    }

    var first: (address: URL, due: Date)? {
      feeds.min { ($0.value, $0.key.absoluteString) < ($1.value, $1.key.absoluteString) }.map { ($0.key, $0.value) }
    }

    mutating func open(notBefore earliest: Date, now: Date) {
      if feeds.isEmpty { pace = nil }
      if let until = pausedUntil, until <= now { (pausedUntil, reason) = (nil, "") }
      opens = max(first?.due ?? .distantFuture, earliest, pausedUntil ?? .distantPast, rests)
    }
  }

  /// Everything that it keeps.
  struct State {
    var hosts: [String: Host] = [:]
    var feeds: [URL: Feed] = [:]
    var homes: [URL: String] = [:]
    var done: [String: UpdateCursor?] = [:]
    var log: [(cursor: Int, update: FeedUpdate)] = []
    var last = 0
    var edition = 0
    /// How often in a row nothing was heard of the worker that had a feed.
    var lapses: [URL: Int] = [:]
    /// When idle workers look again.
    var sleepers: [String: Date] = [:]

    /// The versions of all saved feeds.
    var versions: [URL: FeedVersion] { feeds.compactMapValues(\.version) }

    /// The version of the latest update of a feed in the log.
    func lastChange(of address: URL) -> FeedVersion? {
      log.last { $0.update.address == address }?.update.version
    }

    /// The saved feed; `nil` when nothing is saved of it.
    func feed(_ address: URL) -> FleetFeed? {
      guard let feed = feeds[address], let record = feed.record else { return nil }
      return FleetFeed(address: address, record: record, version: feed.version, document: feed.document)
    }
  }

  let scheduler: any LoopScheduler
  private let wall: () -> Date
  private var time: FleetTime?
  /// The time as it was told last, and when.
  private var told: (clock: Double, at: Duration)?
  private let uptime: () -> Duration
  private let latency: Duration
  var watchers: [ObjectIdentifier: () -> Void] = [:]

  var state = State() { didSet { for watcher in watchers.values { watcher() } } }
  /// Fails every call while it is there: the engine is away.
  var outage: FleetError?
  /// Is asked before each call whether it fails, and is not carried out.
  var refusal: () -> FleetError? = { nil }
  /// Is asked after each call whether its reply is lost: it was carried out.
  var loss: () -> FleetError? = { nil }
  /// How often it was called.
  private(set) var calls = 0

  /// - Parameters:
  ///   - latency: how long after a call it is carried out, and again until its answer.
  ///   - uptime: a clock that nobody sets: the scheduler's unless changed.
  ///   - now: its clock, which may be set.
  init(
    on scheduler: any LoopScheduler, latency: Duration = .zero, uptime: (() -> Duration)? = nil,
    now: @escaping () -> Date
  ) {
    self.uptime = uptime ?? { .nanoseconds(scheduler.now.nanoseconds) }
    self.scheduler = scheduler
    self.latency = latency
    wall = now
  }

  /// The saved feed; `nil` when nothing is saved of it.
  func feed(_ address: URL) -> FleetFeed? { state.feed(address) }

  /// The fleet's time.
  func now() -> Date {
    let raw = (wall().timeIntervalSince1970 * 1000).rounded(.down)
    var time = time ?? FleetTime(clock: raw, raw: raw)
    let sight = told.map { FleetTime.Sight(told: $0.clock, since: (uptime() - $0.at) / .milliseconds(1)) }
    time.advance(to: raw, sight, isIdle: state.hosts.values.allSatisfy { $0.lease == nil })
    self.time = time
    told = (time.clock, uptime())
    return Date(timeIntervalSince1970: time.clock / 1000)
  }

  func call<Value>(_ body: @escaping () -> Value) -> AnyPublisher<Value, FleetError> {
    Deferred { [self] in
      Future { [self] promise in
        _ = scheduler.laterOnce(latency) { [self] in
          calls += 1
          var result: Result<Value, FleetError>
          if let failure = outage ?? refusal() {
            result = .failure(failure)
          } else {
            result = .success(body())
            if let failure = loss() { result = .failure(failure) }
          }
          _ = scheduler.laterOnce(latency) { promise(result) }
        }
      }
    }
    .eraseToAnyPublisher()
  }
}

extension LoopScheduler {
  /// Immediately after this turn when there is no delay.
  fileprivate func laterOnce(_ delay: Duration, _ action: @escaping () -> Void) -> (any Cancellable)? {
    guard delay > .zero else {
      schedule(action)
      return nil
    }
    return once(after: delay, action)
  }
}
