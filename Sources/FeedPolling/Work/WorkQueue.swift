public import FeedStream
public import Foundation
import ImageFeed

/// The polls that are due, for any number of workers on any number of machines: the port between workers and an engine.
///
/// The unit of a lease is the **host**: politeness is per host, so no two workers poll the same host at the same time.
/// A lease is a random nonce and an expiry time by the engine's clock. After the expiry, any worker may take the host,
/// so a worker that dies needs no cleanup. Each call is atomic. A queue is used on one thread, as streams are; its
/// publishers do their work when they are subscribed to.
public protocol WorkQueue: AnyObject {
  /// Grants due hosts, longest due first, each with its earliest due feed.
  ///
  /// **Demand:** requested on subscription; delivers one grant, which may have no lease. **Failure:** ``FleetError``;
  /// if a reply is lost, the hosts that it granted become free when their leases expire. **Cancellation:** hosts that
  /// are granted later become free in the same way.
  func claim(_ wish: WorkClaim) -> AnyPublisher<WorkGrant, FleetError>

  /// Extends the lease of a host.
  ///
  /// - Returns: false if another worker has taken the host, so that the current work must be abandoned.
  func extend(_ lease: WorkLease, by duration: Duration) -> AnyPublisher<Bool, FleetError>

  /// Completes a lease with its result, atomically: writes the feed over the version in the lease or an older one,
  /// appends the update to the log, sets the next due time, and frees the host.
  ///
  /// The same completion may be sent again if its reply was lost.
  func complete(_ completion: WorkCompletion) -> AnyPublisher<WorkVerdict, FleetError>

  /// Leases another host, for a request that follows from a lease: a redirect, or a feed that a page links to. Extends
  /// the visit if the lease already includes the host.
  ///
  /// - Parameter duration: the maximum duration of the visit, unless ``endVisit(of:with:gap:pause:)`` ends it.
  func visit(
    _ host: String, with lease: WorkLease, by worker: String, for duration: Duration
  ) -> AnyPublisher<WorkVisit, FleetError>

  /// Frees a visited host, which then rests for its known pace or for `gap`, as after any request.
  ///
  /// - Parameter pause: the pause that the host's response requested, if any; all of the host's feeds wait.
  func endVisit(
    of host: String, with lease: WorkLease, gap: Duration, pause: HostPause?
  ) -> AnyPublisher<Void, FleetError>

  /// Adds feeds, each of which becomes due after its delay, by the engine's clock.
  ///
  /// - Returns: the number of feeds that were not in the queue before.
  func add(_ feeds: [NewFeed]) -> AnyPublisher<Int, FleetError>

  /// Removes a feed and its saved data.
  ///
  /// - Returns: false if there was no such feed.
  func remove(_ address: URL) -> AnyPublisher<Bool, FleetError>

  /// Pauses a host for all workers, either for `duration` or, if `duration` is `nil`, until ``resume(_:)``. A running
  /// request continues. A pause that ends later stays, with its reason.
  func pause(_ host: String, for duration: Duration?, because reason: String) -> AnyPublisher<Void, FleetError>

  /// Ends the pause of a host.
  ///
  /// - Returns: false if the host wasn't paused.
  func resume(_ host: String) -> AnyPublisher<Bool, FleetError>
}

/// A worker's request for hosts.
public struct WorkClaim: Hashable, Sendable {
  /// The name of the worker, which the lease carries: one word.
  public var worker: String
  /// The maximum number of hosts.
  public var count: Int
  public var lease: Duration
  /// The prefix of the nonces: random, never used before.
  public var nonce: String
  /// The time within which idle workers must notice added feeds.
  public var patience: Duration

  public init(
    worker: String, count: Int, lease: Duration, nonce: String = WorkClaim.randomNonce(),
    patience: Duration = .seconds(1)
  ) {
    precondition(count > 0, "WorkClaim(count: \(count)): no host could be claimed; use 1 or more")
    self.worker = worker
    self.count = count
    self.lease = lease
    self.nonce = nonce
    self.patience = patience
  }

  /// Returns 64 random bits. A counter would be worse: a failover could set it back, and a number would be assigned
  /// twice.
  public static func randomNonce() -> String { String(UInt64.random(in: 0 ... .max), radix: 36) }
}

/// The response to a ``WorkClaim``.
public struct WorkGrant: Hashable, Sendable {
  public var leases: [WorkLease]
  /// The current time by the engine's clock.
  public var now: Date
  /// The time when the next host is due; `nil` when there is none.
  public var next: Date?
  /// The damaged keys that the engine found. The hosts of these keys get no requests for a minute; other hosts are not
  /// affected.
  public var problems: [FleetError] = []
  /// The time for which this worker may sleep, if there were fewer hosts than it requested; other workers check in the
  /// meantime. `nil` if the engine doesn't support this; its workers wake at ``next`` and after ``WorkClaim/patience``.
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
  /// The time when the feed was due.
  public var due: Date
  /// The version of the saved feed; `nil` if nothing is saved.
  public var version: FeedVersion?
  /// The record of the feed.
  public var record: FeedRecord
  /// The pace of the host; `nil` when none is known.
  public var pace: HostPace?
  /// The time for which the host was claimed; zero if it is unknown.
  package var duration = Duration.zero

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
  /// Another worker has the host, or the host rests after a request, for at most this long.
  case busy(for: Duration)
  /// The host is paused; `until` is `nil` for a pause without an end.
  case paused(until: Date?, reason: String)
}

/// The time of a saved feed's request, in microseconds since 1970: a later version is never replaced by an earlier one.
public struct FeedVersion: Hashable, Comparable, Sendable, CustomStringConvertible {
  public var microseconds: Int64

  public init(microseconds: Int64) { self.microseconds = microseconds }
  /// The version of a date, limited to the years 1 to 9999.
  public init(_ date: Date) {
    microseconds = Int64(min(max((date.timeIntervalSince1970 * 1e6).rounded(), -62_135_596_800e6), 253_402_300_799e6))
  }

  public var date: Date { Date(timeIntervalSince1970: Double(microseconds) / 1e6) }
  public var description: String { "\(microseconds)" }
  public static func < (a: FeedVersion, b: FeedVersion) -> Bool { a.microseconds < b.microseconds }
}

/// The result of a leased poll.
public struct WorkCompletion: Hashable, Sendable {
  public var lease: WorkLease
  public var worker: String
  public var outcome: PollOutcome
  public var record: FeedRecord
  /// The feed's new version; `nil` when there is nothing to save.
  public var version: FeedVersion?
  /// The images as bytes, if they differ from the saved ones.
  public var document: Chunk?
  /// The time when the feed is due next; `nil` for never.
  public var due: Date?
  /// The host that is polled for the feed from now on.
  public var host: String
  /// The host's pause after this request, even if the host's feeds change in the meantime.
  public var gap: Duration
  /// The end of the pause that the host requested.
  public var pausedUntil: Date?
  /// The reason for that pause.
  public var reason: String
  /// The pace of the lease's host from now on; `nil` if there is nothing to remember.
  public var pace: HostPace?
  /// The identity of the poll, which the update in the log carries; `nil` if polls aren't traced.
  public var trace: String?

  public init(
    lease: WorkLease, worker: String, outcome: PollOutcome, record: FeedRecord, version: FeedVersion? = nil,
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
  /// The completion was accepted; the value is the position of the update in the log, if the feed changed.
  case accepted(UpdateCursor?)
  /// A later version exists and is kept; the due time is set, and the host is free.
  case superseded
  /// The lease has expired and another worker has the host, or the feed was removed: nothing was written.
  case lost
}

/// A feed to be added.
public struct NewFeed: Hashable, Sendable {
  public var address: URL
  /// The time until the feed is due for the first time.
  public var delay: Duration

  public init(_ address: URL, after delay: Duration = .zero) {
    self.address = address
    self.delay = delay
  }
}
