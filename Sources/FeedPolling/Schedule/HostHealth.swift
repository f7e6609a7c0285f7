public import Foundation
import ImageFeed

/// The state of one host: the feeds of a host share its pauses.
public struct HostHealth: Hashable, Sendable {
  /// The host, with its port if that isn't the scheme's default.
  public var name: String
  /// The end of the pause that the host requested; it is in the past if the pause is over.
  public var pausedUntil: Date?
  /// The reason for the pause, worded to follow "because".
  public var reason = ""
  /// The earliest time of the next request, out of politeness to the host.
  public var next: Date?
  /// The pace at which the host accepts requests; `nil` if no pace was learned and the host doesn't state one.
  public var pace: HostPace?
  /// The process that is sending the host a request, and the earliest time at which others may send one if that process
  /// has ended.
  var holder: String?
  var opensIfLost: Date?

  public init(name: String) { self.name = name }

  /// The earliest time of the next request, taking a pause into account.
  var opens: Date { max(pausedUntil ?? .distantPast, next ?? .distantPast) }

  /// The time at which a closed host is worth another claim: when it opens, or soon if a request holds it, because that
  /// request may end before its reservation.
  func reopens(at now: Date) -> Date {
    holder == nil || pausedUntil ?? .distantPast > now ? opens : min(opens, now + 1)
  }

  /// True while a request holds the host; a host that only rests opens at the same time if its process ends.
  var isHeld: Bool { holder != nil && opensIfLost != next }

  /// Limits a pause to a day, because only a wrong clock can cause a pause that ends later.
  mutating func correctClock(now: Date) {
    let latest = now + Schedule.longest.seconds
    if let end = pausedUntil, end > latest { pausedUntil = latest }
    if let next, next > now + 3600 { self.next = now }
  }

  /// Removes the reservation of a process that was killed.
  ///
  /// - Returns: true if there was a reservation.
  @discardableResult mutating func forgetEndedHolder() -> Bool {
    guard let holder, ProcessMark.hasEnded(holder) else { return false }
    next = opensIfLost
    self.holder = nil
    return true
  }
}
