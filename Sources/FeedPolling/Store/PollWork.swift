public import Foundation
public import ImageFeed

/// One operation of a ``PollStore``.
///
/// This enumeration and the one for results are indirect, because a feed's state is large and is often passed on.
public indirect enum PollWork: Sendable {
  /// Claims the right to send a request now, and records the request, so that no other process repeats it too soon,
  /// even if this one is killed.
  case claim(PollClaim)
  /// Completes a lease in one transaction: saves the feed, records the consequences, including the next due time, and
  /// frees the host. If the feed has been requested again since, the state after that later request is kept.
  case completion(PollCompletion)
  /// Claims the right to send a host a request that isn't for a feed.
  case visit(HostVisit)
  /// Frees a host whose request was a visit, or was cancelled before it completed.
  case release(HostRelease)
  /// Saves the state of a feed whose hub no longer announces changes, unless the feed has been requested since.
  case leaseLost(FeedHealth)
}

/// The result of a ``PollWork``.
public indirect enum PollAnswer: Hashable, Sendable {
  case verdict(PollVerdict)
  /// The recorded notes. `nil` if nothing is recorded: a feed was to be renewed without being read, but a different
  /// version has been saved in the meantime.
  case completed(PollRecord?)
  /// The state of the host, if it is closed; `nil` if it may be visited now.
  case visit(closed: HostHealth?)
  case released
}

extension PollWork {
  /// True if a host has requested a pause.
  var pausesHost: Bool {
    switch self {
    case .completion(let completion): completion.pausesHost
    case .release(let release): release.host.pausedUntil != nil
    case .claim, .visit, .leaseLost: false
    }
  }

  /// True if a document must be saved, which takes longer than saving a note.
  var isReplacement: Bool { if case .completion(let completion) = self { completion.isReplacement } else { false } }
}

/// A request for permission to poll a feed.
public struct PollClaim: Hashable, Sendable {
  /// The state of the feed as known to the poller, including its due time.
  public var feed: FeedHealth
  public var host: String
  public var now: Date
  /// The time that the request may take: the host is reserved for that long, unless the poll is recorded sooner, or the
  /// process ends.
  public var lease: Duration
  /// The minimum time between requests to the host.
  public var gap: Duration
  /// The time when the feed is due again if the process ends before the response.
  public var dueIfLost: Date
  /// The end of the reservation, which identifies it: see ``HostRelease``.
  public var reserved: Date { now + lease.seconds }

  public init(
    feed: FeedHealth, host: String, now: Date, lease: Duration, gap: Duration = .seconds(1), dueIfLost: Date
  ) {
    self.feed = feed
    self.host = host
    self.now = now
    self.lease = lease
    self.gap = gap
    self.dueIfLost = dueIfLost
  }
}

/// The result of a ``PollClaim``.
public indirect enum PollVerdict: Hashable, Sendable {
  /// The request may be sent.
  case granted(PollLease)
  /// The host is paused, or another process is sending it a request.
  case hostIsClosed(HostHealth)
  /// Another process has requested the feed in the meantime, or the feed is no longer saved and an unconditional
  /// request was sent less than a day ago.
  case notDue(FeedHealth)
}

/// The right to send one request for a feed, with everything that the poll needs.
public struct PollLease: Hashable, Sendable {
  /// The state of the feed, updated by the claim.
  public var feed: FeedHealth
  public var host: String
  /// The validators of the saved feed; empty if nothing is saved.
  public var saved: FeedValidators
  /// The validators to send; if they are empty, the request is unconditional. `nil` if the store failed.
  public var since: FeedValidators?
  /// The time of the last unconditional request before this one.
  public var askedForAllBefore: Date?
  /// The pace of the host; `nil` if none is known.
  public var pace: HostPace?
  /// The end of the host's reservation, which identifies it; `nil` if nothing was reserved in a store.
  public var reserved: Date?

  public init(
    feed: FeedHealth, host: String, saved: FeedValidators, since: FeedValidators?, askedForAllBefore: Date? = nil
  ) {
    self.feed = feed
    self.host = host
    self.saved = saved
    self.since = since
    self.askedForAllBefore = askedForAllBefore
  }
}

/// The completion of a lease: the changes to save, and their consequences.
public struct PollCompletion: Sendable {
  /// The change to the saved feed.
  public enum Change: Hashable, Sendable {
    /// The server has sent this feed, which may be the same as the saved one.
    case replacement(CachedFeed)
    /// The server has reported that nothing has changed.
    case renewal(FeedRenewal)
  }

  public var address: URL
  public var host: String
  /// The change to save; `nil` if there is none.
  public var change: Change?
  /// False if the saved feed was not read: it is then renewed only if its validators are the same.
  public var wasRead: Bool
  /// True if the host has requested a pause.
  public var pausesHost: Bool
  public var now: Date
  /// The end of the reservation that is completed; see ``PollLease/reserved``.
  public var reserved: Date?
  /// The record to write, given the result of saving the feed; `nil` if nothing was saved.
  public var record: @Sendable (FeedReplacement?) -> PollRecord

  public init(
    of lease: PollLease, _ change: Change?, wasRead: Bool = true, pausesHost: Bool = false, now: Date,
    record: @escaping @Sendable (FeedReplacement?) -> PollRecord
  ) {
    address = lease.feed.address
    host = lease.host
    reserved = lease.reserved
    self.change = change
    self.wasRead = wasRead
    self.pausesHost = pausesHost
    self.now = now
    self.record = record
  }
}

extension PollCompletion {
  /// True if a document must be saved, which takes longer than saving a note.
  var isReplacement: Bool { if case .replacement? = change { true } else { false } }
}

/// The notes to save after a request.
public struct PollRecord: Hashable, Sendable {
  public var feed: FeedHealth
  /// The name of the host, the earliest time of its next request, and the end of the pause, if the host requested one.
  public var host: HostHealth
  public var decision: PollDecision
  /// The poll's outcome, which is not saved.
  public var outcome: PollOutcome

  public init(feed: FeedHealth, host: HostHealth, decision: PollDecision, outcome: PollOutcome) {
    self.feed = feed
    self.host = host
    self.decision = decision
    self.outcome = outcome
  }
}

/// One line of the decision log: the request, its result, and the next due time.
public struct PollDecision: Hashable, Sendable, Codable {
  public var time: Date
  /// The extent of the request: `the whole feed`, or `changes`.
  public var request: String
  /// The outcome as text.
  public var outcome: String
  /// The time when the feed is due next; `nil` for never.
  public var due: Date?
  public var rule: Schedule.Rule
  /// The reason, worded to follow "because".
  public var reason: String

  public init(time: Date, request: String, outcome: String, due: Date?, rule: Schedule.Rule, reason: String) {
    self.time = time
    self.request = request
    self.outcome = outcome
    self.due = due
    self.rule = rule
    self.reason = reason
  }

  /// The number of decisions kept per feed: 20.
  public static let kept = 20
}
