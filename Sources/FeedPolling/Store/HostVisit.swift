public import Foundation

/// A wish to send a host a request that is not for a feed, such as for the page of an item.
public struct HostVisit: Hashable, Sendable {
  /// The host: see `URL.pollingHost`.
  public var host: String
  public var now: Date
  /// The time that the request may take; the host is taken for that long, unless it is released sooner.
  public var lease: Duration
  /// The least time between requests to the host.
  public var gap: Duration

  public init(host: String, now: Date, lease: Duration, gap: Duration = .seconds(1)) {
    (self.host, self.now, self.lease, self.gap) = (host, now, lease, gap)
  }

  /// A store's response for what it has saved of the host, and what to save when the visit is granted.
  func decide(_ saved: HostHealth?) -> (isGranted: Bool, host: HostHealth) {
    var host = saved ?? HostHealth(name: self.host)
    host.correctClock(now: now)
    host.forgetEndedHolder()
    guard host.opens <= now else { return (false, host) }
    host.begin(now: now, lease: lease, gap: gap)
    return (true, host)
  }
}

extension HostHealth {
  /// Notes that this process sends a request.
  mutating func begin(now: Date, lease: Duration, gap: Duration) {
    next = now + lease.seconds
    (holder, opensIfLost) = (ProcessMark.own, now + max(gap.seconds, pace?.rest ?? 0))
  }
}
