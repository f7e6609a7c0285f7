import Foundation
import Synchronization

/// The engine's time. Everything that other programs see is dated by this clock, so a wrong clock on a worker does no
/// harm.
final class FleetClock: Sendable {
  private let start: Mutex<Date>
  private let uptime: @Sendable () -> Duration

  /// - Parameter uptime: a clock that can't be set.
  init(_ uptime: @escaping @Sendable () -> Duration) {
    self.uptime = uptime
    start = Mutex(Date(timeIntervalSince1970: 0))
  }

  func set(_ now: Date) { start.withLock { $0 = now - uptime().seconds } }
  var now: Date { start.withLock { $0 + uptime().seconds } }
}

/// A clock of this machine that continues during sleep and can't be set.
public enum MachineTime {
  private static let start = ContinuousClock.now
  /// The time since the clock was first read.
  public static var now: Duration { start.duration(to: .now) }
}
