public import Foundation

/// A request for permission to send a host a request that isn't for a feed, such as one for an item's page.
public struct HostVisit: Hashable, Sendable {
  /// The host: see `URL.pollingHost`.
  public var host: String
  public var now: Date
  /// The time that the request may take; the host is reserved for that long, unless it is released sooner.
  public var lease: Duration
  /// The minimum time between requests to the host.
  public var gap: Duration

  public init(host: String, now: Date, lease: Duration, gap: Duration = .seconds(1)) {
    (self.host, self.now, self.lease, self.gap) = (host, now, lease, gap)
  }

  /// The end of the reservation, which identifies it: see ``HostRelease``.
  public var reserved: Date { now + lease.seconds }

  /// A store's decision, based on the saved state of the host, and the state to save if the visit is granted.
  func decide(_ saved: HostHealth?) -> (isGranted: Bool, host: HostHealth) {
    var host = saved ?? HostHealth(name: self.host)
    host.correctClock(now: now)
    host.forgetEndedHolder()
    guard host.opens <= now else { return (false, host) }
    host.begin(now: now, lease: lease, gap: gap)
    return (true, host)
  }
}

/// The end of a request that was a visit, or that was cancelled before it completed.
public struct HostRelease: Hashable, Sendable {
  /// The host, the earliest time of its next request, and the pause that it has requested, if any.
  public var host: HostHealth
  /// The end of the reservation that is released; another reservation stays as it is.
  public var reserved: Date
  /// The time at which the request ended. From then on, the host rests for its known pace, unless ``host`` states a
  /// later time.
  public var ended: Date
  /// True if no request was sent to the host, which then doesn't rest.
  var isUnused = false
  /// The request that was cancelled, if it was for a feed: others needn't wait for its result.
  var abandoned: AbandonedRequest?

  struct AbandonedRequest: Hashable, Sendable {
    let feed: URL
    /// See ``FeedHealth/begun``.
    let begun: Date
  }

  public init(_ host: HostHealth, reserved: Date, ended: Date) {
    (self.host, self.reserved, self.ended) = (host, reserved, ended)
  }

  /// The state to save.
  func decide(_ saved: HostHealth?) -> HostHealth {
    var host = host
    // The known pace of the host is kept.
    host.pace = saved?.pace?.remembered(at: ended)
    if let pace = host.pace, !isUnused { host.next = max(host.next ?? ended, ended + pace.rest) }
    if host.opensIfLost != nil { host.opensIfLost = host.next }
    return host.merged(into: saved, releasing: reserved)
  }
}

extension HostHealth {
  /// Records that this process is sending a request.
  mutating func begin(now: Date, lease: Duration, gap: Duration) {
    next = now + lease.seconds
    (holder, opensIfLost) = (ProcessMark.own, now + max(gap.seconds, pace?.remembered(at: now)?.rest ?? 0))
  }
}
