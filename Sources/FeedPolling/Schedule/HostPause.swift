public import Foundation

/// A pause that a host has requested.
public struct HostPause: Hashable, Sendable {
  /// The end of the pause.
  public var until: Date
  /// The reason, worded to follow "because".
  public var reason: String

  public init(until: Date, because reason: String) {
    self.until = until
    self.reason = reason
  }

  /// The pause that a response requests: at most a day.
  ///
  /// - Parameter gap: the usual pause after a request.
  /// - Returns: `nil` if the response requests no pause, or one that isn't longer than `gap`.
  init?(_ facts: AnswerFacts, gap: Duration, now: Date) {
    if facts.pauses {
      self.init(until: now + facts.pause.seconds, because: facts.pauseReason)
    } else if let stated = facts.stated, stated > gap {
      self.init(until: now + min(stated, Schedule.longest).seconds, because: AnswerFacts.usedUp)
    } else {
      return nil
    }
  }
}
