public import FeedStream
public import Foundation

/// The latest updates, in order, for any number of readers that keep their own place: the port between gateways and an engine.
///
/// Lives on one thread, as streams do.
public protocol UpdateLog: AnyObject {
  /// Appends an update that no ``WorkQueue/complete(_:)`` did.
  func append(_ update: FeedUpdate) -> AnyPublisher<UpdateCursor, FleetError>

  /// The end of the log: a reader that takes a snapshot asks for this first, and goes on from here.
  func end() -> AnyPublisher<UpdateCursor, FleetError>

  /// The latest updates, at most `count`, the oldest first.
  func latest(_ count: Int) -> AnyPublisher<[LoggedUpdate], FleetError>

  /// True when everything after a cursor is still there: it was not trimmed, and the log is the one that the cursor is of.
  ///
  /// False after the log was trimmed past it, and after a failover or a restart that took the log back: then only a snapshot helps.
  func holds(_ cursor: UpdateCursor) -> AnyPublisher<Bool, FleetError>

  /// The updates after a cursor that the log ``holds(_:)``, and those that come: never finishes.
  ///
  /// **Demand:** reads when an update is wanted. **Failure:** ``FleetError``; whoever reads on makes sure that the log still
  /// holds the place. **Cancellation:** ends reading. **Policy:** holds a few hundred.
  func updates(after cursor: UpdateCursor) -> AnyPublisher<LoggedUpdate, FleetError>
}

/// A place in an ``UpdateLog``. It means nothing to others.
public struct UpdateCursor: Hashable, Sendable, CustomStringConvertible {
  public let description: String
  public init(_ text: String) { description = text }
}

/// One feed has another version.
public struct FeedUpdate: Hashable, Sendable {
  public var address: URL
  public var version: FeedVersion

  public init(address: URL, version: FeedVersion) {
    self.address = address
    self.version = version
  }
}

/// An update and its place.
public struct LoggedUpdate: Hashable, Sendable {
  public var cursor: UpdateCursor
  public var update: FeedUpdate

  public init(cursor: UpdateCursor, update: FeedUpdate) {
    self.cursor = cursor
    self.update = update
  }
}
