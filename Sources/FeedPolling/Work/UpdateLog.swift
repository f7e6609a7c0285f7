public import FeedStream
public import Foundation

/// The latest updates, in order, for any number of readers that keep their own position: the port between gateways and
/// an engine.
///
/// Like a stream, it must be used on one thread.
public protocol UpdateLog: AnyObject {
  /// Appends an update outside of ``WorkQueue/complete(_:)``.
  func append(_ update: FeedUpdate) -> AnyPublisher<UpdateCursor, FleetError>

  /// The end of the log: a reader that takes a snapshot reads this position first, and then continues from there.
  func end() -> AnyPublisher<UpdateCursor, FleetError>

  /// The latest updates, at most `count`, oldest first.
  func latest(_ count: Int) -> AnyPublisher<[LoggedUpdate], FleetError>

  /// True when everything after a cursor is still in the log: nothing was trimmed, and the cursor belongs to this log.
  ///
  /// False if the log was trimmed past the cursor, or rolled back by a failover or a restart. In that case, the reader
  /// needs a new snapshot.
  func holds(_ cursor: UpdateCursor) -> AnyPublisher<Bool, FleetError>

  /// The updates after a cursor that the log ``holds(_:)``, including future ones; never finishes.
  ///
  /// **Demand:** reads when an update is requested. **Failure:** ``FleetError``; before you continue, check that the
  /// log still has your position. **Cancellation:** ends reading. **Policy:** holds a few hundred updates.
  func updates(after cursor: UpdateCursor) -> AnyPublisher<LoggedUpdate, FleetError>
}

/// A position in an ``UpdateLog``. It has no meaning in other logs.
public struct UpdateCursor: Hashable, Sendable, CustomStringConvertible {
  public let description: String
  public init(_ text: String) { description = text }
}

/// A new version of one feed.
public struct FeedUpdate: Hashable, Sendable {
  public var address: URL
  public var version: FeedVersion
  /// The identity of the poll that found this version, if the worker traces polls (``PollTrace/parent``).
  public var trace: String?

  public init(address: URL, version: FeedVersion, trace: String? = nil) {
    self.address = address
    self.version = version
    self.trace = trace
  }
}

/// An update and its position.
public struct LoggedUpdate: Hashable, Sendable {
  public var cursor: UpdateCursor
  public var update: FeedUpdate
  /// The position of the update before this one, even if that has been trimmed; `nil` if it is unknown. A reader whose
  /// last update has another position has missed updates.
  public var previous: UpdateCursor?

  public init(cursor: UpdateCursor, update: FeedUpdate, previous: UpdateCursor? = nil) {
    self.cursor = cursor
    self.update = update
    self.previous = previous
  }
}
