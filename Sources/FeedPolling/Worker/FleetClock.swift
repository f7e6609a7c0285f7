import Foundation
import Synchronization

/// The engine's time, by which everything is dated that others see: a worker whose clock is wrong, or is set, does no harm.
final class FleetClock: Sendable {
  private let start: Mutex<Date>
  private let uptime: @Sendable () -> Duration

  /// - Parameter uptime: a clock that nobody sets.
  init(_ uptime: @escaping @Sendable () -> Duration) {
    self.uptime = uptime
    start = Mutex(Date(timeIntervalSince1970: 0))
  }

  func set(_ now: Date) { start.withLock { $0 = now - uptime().seconds } }
  var now: Date { start.withLock { $0 + uptime().seconds } }
}

/// A clock of this machine that goes on while it sleeps, and that nobody sets.
public enum MachineTime {
  private static let start = ContinuousClock.now
  /// How long ago it was looked at first.
  public static var now: Duration { start.duration(to: .now) }
}
