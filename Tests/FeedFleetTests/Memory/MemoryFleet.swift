import FeedRedis
import FeedStream
import Foundation
import ImageFeed

@testable import FeedPolling

/// A fleet's work and updates in memory: for histories in virtual time, and as a compact description of an engine.
///
/// It does the same as the scripts of ``RedisFleet``, step by step, and replies later, as an engine does. Restoring an
/// earlier copy of its ``State`` simulates a failover: later writes are lost.
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
    /// The end of its rest after a request.
    var rests = Date.distantPast
    var pace: HostPace?

    /// True when there is nothing to remember about the host.
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

  /// All stored data.
  struct State {
    var hosts: [String: Host] = [:]
    var feeds: [URL: Feed] = [:]
    var homes: [URL: String] = [:]
    var done: [String: UpdateCursor?] = [:]
    typealias Entry = (cursor: Int, update: FeedUpdate, previous: Int)
    var log: [Entry] = []
    var last = 0
    var edition = 0
    /// The number of consecutive workers per feed that were lost during its lease.
    var lapses: [URL: Int] = [:]
    /// The times when idle workers claim again.
    var sleepers: [String: Date] = [:]

    /// The versions of all saved feeds.
    var versions: [URL: FeedVersion] { feeds.compactMapValues(\.version) }

    /// The version of the latest update of a feed in the log.
    func lastChange(of address: URL) -> FeedVersion? {
      log.last { $0.update.address == address }?.update.version
    }

    /// The saved feed; `nil` if nothing is saved.
    func feed(_ address: URL) -> FleetFeed? {
      guard let feed = feeds[address], let record = feed.record else { return nil }
      return FleetFeed(address: address, record: record, version: feed.version, document: feed.document)
    }
  }

  let scheduler: any LoopScheduler
  private let wall: () -> Date
  private var time: FleetTime?
  /// The last time that was told to a user, and when.
  private var told: (clock: Double, at: Duration)?
  private let uptime: () -> Duration
  private let latency: Duration
  var watchers: [ObjectIdentifier: () -> Void] = [:]

  var state = State() { didSet { for watcher in watchers.values { watcher() } } }
  /// The failure of every call while the engine is unreachable; `nil` while it works.
  var outage: FleetError?
  /// Called before each call: if it returns an error, the call fails and is not carried out.
  var refusal: () -> FleetError? = { nil }
  /// Called after each call: if it returns an error, the reply is lost, although the call was carried out.
  var loss: () -> FleetError? = { nil }
  /// The number of calls so far.
  private(set) var calls = 0

  /// - Parameters:
  ///   - latency: the time until a call is carried out, and again the time until its reply.
  ///   - uptime: a clock that is never set; the scheduler's by default.
  ///   - now: the engine's clock, which may be set.
  init(
    on scheduler: any LoopScheduler, latency: Duration = .zero, uptime: (() -> Duration)? = nil,
    now: @escaping () -> Date
  ) {
    self.uptime = uptime ?? { .nanoseconds(scheduler.now.nanoseconds) }
    self.scheduler = scheduler
    self.latency = latency
    wall = now
  }

  /// The saved feed; `nil` if nothing is saved.
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
  /// Runs the action after a delay; without one, right after this turn.
  fileprivate func laterOnce(_ delay: Duration, _ action: @escaping () -> Void) -> (any Cancellable)? {
    guard delay > .zero else {
      schedule(action)
      return nil
    }
    return once(after: delay, action)
  }
}
