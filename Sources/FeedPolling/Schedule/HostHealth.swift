public import Foundation
import ImageFeed

/// The state of one host: the feeds of a host share its pauses.
public struct HostHealth: Hashable, Sendable, Codable {
  /// The host, with its port where that is not the scheme's own.
  public var name: String
  /// The end of the pause that it requested; in the past when it is over.
  public var pausedUntil: Date?
  /// The reason for the pause, to follow "because".
  public var reason = ""
  /// The earliest moment of the next request, for politeness.
  public var next: Date?
  /// The pace at which it takes requests; `nil` when none was learned and it states none.
  public var pace: HostPace?
  /// The process that asks it now, and the moment from which on others may if that has ended.
  var holder: String?
  var opensIfLost: Date?

  public init(name: String) { self.name = name }

  /// The first moment at which it may be asked.
  var opens: Date { max(pausedUntil ?? .distantPast, next ?? .distantPast) }

  /// No pause is longer than a day: one that ends later was written by a wrong clock.
  mutating func correctClock(now: Date) {
    let latest = now + Schedule.longest.seconds
    if let end = pausedUntil, end > latest { pausedUntil = latest }
    if let next, next > now + 3600 { self.next = now }
  }

  /// A process that was killed asks no more.
  ///
  /// - Returns: true when there was one.
  @discardableResult mutating func forgetEndedHolder() -> Bool {
    guard let holder, ProcessMark.hasEnded(holder) else { return false }
    next = opensIfLost
    self.holder = nil
    return true
  }
}
