public import FeedPolling
public import FeedStream
public import Foundation

/// The feeds of an engine and each change to them, for a gateway to show.
///
/// Delivers a snapshot first, then an update for each entry of the log (never with an older version than before), and
/// the list whenever it changes. For an entry about a feed that isn't followed, it delivers only the position. Each
/// update keeps its entry's id and version, even if the feed already has a later version, whose entry follows. So a
/// client that resumes at another gateway with an entry's id has seen everything up to that id and nothing after it. If
/// the engine becomes unreachable, the follower reports this and keeps trying; once the engine is reachable, the
/// follower continues where it stopped. If the log has lost that position or was rolled back, the follower starts over
/// with a snapshot that reports this: nothing is missed silently.
///
/// **Demand:** the log is read when an event is requested. **Failure:** none. **Cancellation:** ends reading.
public struct FleetFollower {
  /// An event for a gateway.
  public enum Event: Sendable {
    /// All feeds in their current state, which replace everything delivered before.
    case snapshot(FleetSnapshot)
    /// An entry of the log, and the feed's current state: `nil` if that was already delivered, or the feed was removed.
    case update(FleetFeed?, for: LoggedUpdate)
    /// The position of an entry of the log about a feed that isn't followed.
    case passed(UpdateCursor)
    /// Feeds were added or removed.
    case list(FleetList)
    /// The engine is unreachable, or refuses commands; delivered feeds may be out of date. Delivered again if the
    /// reason changes.
    case away(FleetError)
    /// The engine is reachable again, and nothing was missed.
    case back
  }

  public typealias Engine = UpdateLog & FeedLibrary

  let engine: any Engine
  let wanted: [URL]?
  let most: Int
  let pauses: ClosedRange<Duration>
  let look: Duration
  let seed: UInt64
  let scheduler: any LoopScheduler

  /// - Parameters:
  ///   - addresses: the feeds to follow, each once; `nil` for the first `most` feeds.
  ///   - pauses: the pause after a failure of the engine, which is doubled after each further failure, and the longest
  ///     pause. The latter should be less than the time that clients of other gateways wait for this one to catch up.
  ///   - look: the interval at which the follower checks that the log still has its position and that the list is
  ///     unchanged.
  ///   - seed: determines the pauses; chosen by the system by default.
  ///   - scheduler: an event loop, or virtual time in a test.
  public init(
    _ addresses: [URL]?, in engine: any Engine, most: Int = 1000,
    pauses: ClosedRange<Duration> = .milliseconds(250)...(.seconds(2)), look: Duration = .seconds(5),
    seed: UInt64 = .random(in: 0 ... .max),
    on scheduler: any LoopScheduler
  ) {
    precondition(most > 0, "FleetFollower: most is \(most), so no feed could be followed; use 1 or more")
    self.engine = engine
    var seen: Set<URL> = []
    wanted = addresses?.filter { seen.insert($0).inserted }
    self.most = most
    self.pauses = pauses
    self.look = look
    self.seed = seed
    self.scheduler = scheduler
  }
}

/// The feeds of a gateway after feeds were added or removed.
public struct FleetList: Sendable {
  /// The URLs of all feeds, in their order.
  public var addresses: [URL]
  /// The feeds that were not in the list before, or are known again; the others haven't changed.
  public var added: [FleetFeed]
  /// The feeds that are no longer known: they were removed. They are in ``addresses`` only if they were requested by
  /// name.
  public var forgotten: Set<URL>
  /// True when there are more feeds than these.
  public var isCut: Bool
}

/// The feeds of a gateway at one moment.
public struct FleetSnapshot: Sendable {
  /// The feeds, in a fixed order; `nil` for a feed about which nothing is known yet.
  public var feeds: [(address: URL, feed: FleetFeed?)]
  /// The latest updates up to the snapshot, oldest first, because a client of another gateway may have seen them. They
  /// include those of feeds that aren't followed: their positions are ids, too.
  public var history: [LoggedUpdate]
  /// The position after which the updates continue.
  public var cursor: UpdateCursor
  /// True when something before the snapshot may have been missed.
  public var isReset: Bool
  /// True when there are more feeds, which are not followed.
  public var isCut: Bool
}

extension FleetFollower: Publisher, _DeliversAtHome {
  public typealias Output = Event
  public typealias Failure = Never

  public func receive<S: Subscriber>(subscriber: S) where S.Input == Event, S.Failure == Never {
    subscriber.receive(subscription: FollowingRun(self) { subscriber.receive($0) })
  }
}
