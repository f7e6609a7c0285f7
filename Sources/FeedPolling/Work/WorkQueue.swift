public import FeedStream
public import Foundation
import ImageFeed

/// The polls that are due, for any number of workers on any number of machines: the port between workers and an engine.
///
/// The unit of a lease is the **host**: politeness is per host, so no two workers poll one host at a time. A lease is a
/// random nonce and an expiry by the engine's clock, after which any worker may take the host: a worker
/// that dies needs no cleanup. Each call
/// is atomic. Lives on one thread, as streams do; its publishers do their work when they are subscribed to.
public protocol WorkQueue: AnyObject {
  /// Hands out hosts whose time has come, the latest first come first, each with its feed that is due first.
  ///
  /// **Demand:** asked at the subscription; one grant, which may hold no lease. **Failure:** ``FleetError``; hosts that were
  /// granted in a reply that was lost come back when their lease is over. **Cancellation:** likewise.
  func claim(_ wish: WorkClaim) -> AnyPublisher<WorkGrant, FleetError>

  /// Keeps a host for longer, from now on.
  ///
  /// - Returns: false when it is another worker's by now: what is being done is to be given up.
  func extend(_ lease: WorkLease, by duration: Duration) -> AnyPublisher<Bool, FleetError>

  /// Ends a lease with what came of it, all in one step: the feed is written over the version that the lease saw, or an
  /// older one, the update is appended to the log, the next due time is set, the host is free.
  ///
  /// The same completion may be given again when its reply was lost.
  func complete(_ completion: WorkCompletion) -> AnyPublisher<WorkVerdict, FleetError>

  /// Takes another host, for a request that a lease leads to: a redirect's, or that of a feed that a page names.
  ///
  /// - Parameter duration: how long at most, unless ``endVisit(of:with:gap:)`` ends it.
  func visit(
    _ host: String, with lease: WorkLease, by worker: String, for duration: Duration
  ) -> AnyPublisher<WorkVisit, FleetError>

  /// Gives a visited host back, which then rests as after any request.
  func endVisit(of host: String, with lease: WorkLease, gap: Duration) -> AnyPublisher<Void, FleetError>

  /// Adds feeds, due at the time that comes with them, by the engine's clock from now on.
  ///
  /// - Returns: how many there were not before.
  func add(_ feeds: [NewFeed]) -> AnyPublisher<Int, FleetError>

  /// Removes a feed, and what is saved of it.
  ///
  /// - Returns: false when there was none.
  func remove(_ address: URL) -> AnyPublisher<Bool, FleetError>

  /// Pauses a host for `duration` and for all workers; `nil` until ``resume(_:)``. A running request continues.
  func pause(_ host: String, for duration: Duration?, because reason: String) -> AnyPublisher<Void, FleetError>

  /// Ends the pause of a host.
  ///
  /// - Returns: false when it had none.
  func resume(_ host: String) -> AnyPublisher<Bool, FleetError>
}

/// A worker's wish for hosts.
public struct WorkClaim: Hashable, Sendable {
  /// Whose name the lease has.
  public var worker: String
  /// The most that may be taken.
  public var count: Int
  public var lease: Duration
  /// Begins the nonces: random, never used before.
  public var nonce: String
  /// How long a fleet whose workers are idle may leave what was added unnoticed.
  public var patience: Duration

  public init(
    worker: String, count: Int, lease: Duration, nonce: String = WorkClaim.randomNonce(),
    patience: Duration = .seconds(1)
  ) {
    precondition(count > 0, "WorkClaim(count: \(count)): nothing is wanted; use 1 or more")
    self.worker = worker
    self.count = count
    self.lease = lease
    self.nonce = nonce
    self.patience = patience
  }

  /// 64 random bits. A counter would do worse: a failover sets it back, and the same number is handed out again.
  public static func randomNonce() -> String { String(UInt64.random(in: 0 ... .max), radix: 36) }
}

/// The response to a ``WorkClaim``.
public struct WorkGrant: Hashable, Sendable {
  public var leases: [WorkLease]
  /// The engine's clock.
  public var now: Date
  /// The time when the next host is due; `nil` when there is none.
  public var next: Date?
  /// Damage that the engine found: the hosts of these keys are not requested for a minute; all others are.
  public var problems: [FleetError] = []
  /// How long this worker may sleep, of which there was less than it wished: others look meanwhile. `nil` from an engine that does not
  /// say, whose workers wake for ``next`` and for ``WorkClaim/patience``.
  public var wake: Duration?

  public init(leases: [WorkLease], now: Date, next: Date?) {
    self.leases = leases
    self.now = now
    self.next = next
  }
}

/// The right to request one feed from one host.
public struct WorkLease: Hashable, Sendable {
  public var host: String
  public var nonce: String
  public var address: URL
  /// The time when it was due.
  public var due: Date
  /// The time of the saved feed's request; `nil` when there is none.
  public var version: FeedVersion?
  /// The record of the feed.
  public var record: FeedRecord
  /// The pace of the host; `nil` when none is known.
  public var pace: HostPace?

  public init(host: String, nonce: String, address: URL, due: Date, version: FeedVersion?, record: FeedRecord) {
    self.host = host
    self.nonce = nonce
    self.address = address
    self.due = due
    self.version = version
    self.record = record
  }
}

/// The response to a request for a host other than the lease's own.
public enum WorkVisit: Hashable, Sendable {
  /// The lease now includes the host, too.
  case granted
  /// The host is another worker's, or rests after a request, for this long at most.
  case busy(for: Duration)
  /// The host is paused; `nil` for a pause without an end.
  case paused(until: Date?, reason: String)
}

/// The time of a saved feed's request, in microseconds since 1970: a later version is never replaced by an earlier one.
public struct FeedVersion: Hashable, Comparable, Sendable, CustomStringConvertible {
  public var microseconds: Int64

  public init(microseconds: Int64) { self.microseconds = microseconds }
  /// Between the years 1 and 9999, whatever the date is.
  public init(_ date: Date) {
    microseconds = Int64(min(max((date.timeIntervalSince1970 * 1e6).rounded(), -62_135_596_800e6), 253_402_300_799e6))
  }

  public var date: Date { Date(timeIntervalSince1970: Double(microseconds) / 1e6) }
  public var description: String { "\(microseconds)" }
  public static func < (a: FeedVersion, b: FeedVersion) -> Bool { a.microseconds < b.microseconds }
}

/// The result of a lease.
public struct WorkCompletion: Hashable, Sendable {
  public enum Outcome: String, Hashable, Sendable, CaseIterable {
    case changed, unchanged, failed
    /// It was not requested after all: it was to be requested whole, and was within a day.
    case postponed
  }

  public var lease: WorkLease
  public var worker: String
  public var outcome: Outcome
  public var record: FeedRecord
  /// The feed's new version; `nil` when there is nothing to save.
  public var version: FeedVersion?
  /// Its images as bytes, when they differ from the saved ones.
  public var document: Chunk?
  /// The time when it is due next; `nil` for never by itself.
  public var due: Date?
  /// The host that is polled for it from now on.
  public var host: String
  /// The pause of the host after this request, whatever happens to its feeds meanwhile.
  public var gap: Duration
  /// The end of the pause that the host requested.
  public var pausedUntil: Date?
  /// The reason for that.
  public var reason: String
  /// The pace of the lease's host from now on; `nil` when there is nothing to remember.
  public var pace: HostPace?

  public init(
    lease: WorkLease, worker: String, outcome: Outcome, record: FeedRecord, version: FeedVersion? = nil,
    document: Chunk? = nil, due: Date?, host: String? = nil, gap: Duration = .seconds(1), pausedUntil: Date? = nil,
    reason: String = ""
  ) {
    self.lease = lease
    self.worker = worker
    self.outcome = outcome
    self.record = record
    self.version = version
    self.document = document
    self.due = due
    self.host = host ?? lease.host
    self.gap = gap
    self.pausedUntil = pausedUntil
    self.reason = reason
    pace = lease.pace
  }
}

/// An engine's verdict on a ``WorkCompletion``.
public enum WorkVerdict: Hashable, Sendable {
  /// It is done; with the place of the update in the log, if the feed changed.
  case accepted(UpdateCursor?)
  /// A later version was there and stays; the due time is set, and the host is free.
  case superseded
  /// The lease is over and the host another worker's, or the feed was removed: nothing was written.
  case lost
}

/// A feed to be added.
public struct NewFeed: Hashable, Sendable {
  public var address: URL
  /// The time until it is due for the first time.
  public var delay: Duration

  public init(_ address: URL, after delay: Duration = .zero) {
    self.address = address
    self.delay = delay
  }
}
