public import FeedPolling
public import FeedStream
public import Foundation

/// The feeds of an engine and each change to them, for a gateway to show.
///
/// First a snapshot; then an update for each entry of the log, never of an older version than before, and the list when it has
/// changed. Each entry keeps its own id and version, even when the feed has a later one by then, whose entry follows: a client that
/// goes on elsewhere at an id has seen everything before it, and nothing after it. While the engine is away, the
/// follower says so and tries again; when it is back, it goes on where it stopped, or, where the log has lost that place or went
/// back, begins again with another snapshot, which says so: nothing is missed silently.
///
/// **Demand:** the log is read when an event is wanted. **Failure:** none. **Cancellation:** ends reading.
public struct FleetFollower {
  /// An event for a gateway.
  public enum Event: Sendable {
    /// All feeds as they are, instead of everything before.
    case snapshot(FleetSnapshot)
    /// An entry of the log, and the feed as it is by now: `nil` when that was delivered already, or the feed was removed.
    case update(FleetFeed?, for: LoggedUpdate)
    /// Feeds were added or removed.
    case list(FleetList)
    /// The engine is unreachable, or refuses; delivered feeds may be out of date. Sent again if the reason changes.
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
  ///   - addresses: the feeds to follow; `nil` for the first `most` of all.
  ///   - pauses: the pause after a failure of the engine, doubled by each further one, and the longest: shorter than clients of other
  ///     gateways wait until this one has read as far.
  ///   - look: how often it checks that the log still holds its place and that the list is the same.
  ///   - seed: determines the pauses. The system's choice unless given.
  ///   - scheduler: an event loop, or virtual time in a test.
  public init(
    _ addresses: [URL]?, in engine: any Engine, most: Int = 1000,
    pauses: ClosedRange<Duration> = .milliseconds(250)...(.seconds(2)), look: Duration = .seconds(5),
    seed: UInt64 = .random(in: 0 ... .max),
    on scheduler: any LoopScheduler
  ) {
    precondition(most > 0, "FleetFollower: it would follow no feed; use 1 or more")
    self.engine = engine
    wanted = addresses
    self.most = most
    self.pauses = pauses
    self.look = look
    self.seed = seed
    self.scheduler = scheduler
  }
}

/// The feeds of a gateway when others were added or removed.
public struct FleetList: Sendable {
  /// All of them, in their order.
  public var addresses: [URL]
  /// The feeds that were not among them before, or are known again; the others are unchanged.
  public var added: [FleetFeed]
  /// The feeds that are no longer known: they were removed, and are among ``addresses`` only if they were requested by name.
  public var forgotten: Set<URL>
  /// True when there are more.
  public var isCut: Bool
}

/// The feeds of a gateway at one moment.
public struct FleetSnapshot: Sendable {
  /// In a fixed order; `nil` for those that nothing is known of yet.
  public var feeds: [(address: URL, feed: FleetFeed?)]
  /// The latest updates up to the snapshot, the oldest first: what a client that comes from another gateway has seen.
  public var history: [LoggedUpdate]
  /// The place where the updates go on.
  public var cursor: UpdateCursor
  /// True when something may have been missed before it.
  public var isReset: Bool
  /// True when there are more feeds, which are not followed.
  public var isCut: Bool
}

extension FleetFollower: Publisher {
  public typealias Output = Event
  public typealias Failure = Never

  public func receive<S: Subscriber>(subscriber: S) where S.Input == Event, S.Failure == Never {
    subscriber.receive(subscription: FollowingRun(self) { subscriber.receive($0) })
  }
}
