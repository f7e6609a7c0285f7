public import Foundation

/// Decides how old a saved feed may be. The policy is pure: the current time is a parameter.
public struct FeedCachePolicy: Hashable, Sendable {
  /// The age at which a feed expires; `nil` for never.
  public let maxAge: Duration?

  /// Seven days: 604,800 seconds.
  public static let defaultMaxAge = Duration.seconds(604_800)

  /// The maximum time by which a timestamp may be in the future: five minutes. If it is further in the future, the
  /// clock is assumed to have been wrong.
  public static let clockTolerance = Duration.seconds(300)

  /// Creates a policy with a maximum age, or without one.
  public init(maxAge: Duration? = Self.defaultMaxAge) {
    self.maxAge = maxAge
  }

  /// True when a feed with this timestamp may still be shown.
  ///
  /// A feed has expired when it is `maxAge` old to the microsecond, or older. It has also expired when its timestamp is
  /// more than ``clockTolerance`` in the future, so that a wrong clock doesn't keep it forever. Without a maximum age,
  /// a feed never expires.
  public func isValid(_ timestamp: Date, now: Date) -> Bool {
    guard let maxAge else { return true }
    let age = Self.age(of: timestamp, now: now)
    return age < maxAge && age >= .zero - Self.clockTolerance
  }

  /// The time since `timestamp`, to the microsecond; negative when it is in the future.
  ///
  /// The result is rounded, because adding seven days to a `Date` and subtracting them again may be off by some
  /// nanoseconds. For extremely distant dates, the result is capped at thousands of years.
  public static func age(of timestamp: Date, now: Date) -> Duration {
    let seconds = now.timeIntervalSince(timestamp)
    guard seconds.isFinite else { return seconds == .infinity ? .seconds(200_000_000_000) : .seconds(-200_000_000_000) }
    let bounded = min(max(seconds, -200_000_000_000), 200_000_000_000)
    return .microseconds(Int64((bounded * 1_000_000).rounded()))
  }

  /// True when a feed requested at `timestamp` must not replace a saved one requested at `saved`: the saved one is
  /// newer, and its timestamp is credible.
  ///
  /// After the clock is set back, the saved timestamp is in the future; if it still counted, nothing could be saved
  /// until that time.
  public static func isSuperseded(_ timestamp: Date, by saved: Date, now: Date) -> Bool {
    saved > timestamp && age(of: saved, now: now) >= .zero - clockTolerance
  }
}
