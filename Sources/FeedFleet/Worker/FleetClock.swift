import Foundation
import Synchronization

/// The engine's time, by which everything is dated that others see: a worker whose clock is wrong does no harm.
final class FleetClock: Sendable {
  private let offset = Mutex(0.0)
  private let local: @Sendable () -> Date

  init(_ local: @escaping @Sendable () -> Date) { self.local = local }

  func set(_ now: Date) { offset.withLock { $0 = now.timeIntervalSince(local()) } }
  var now: Date { offset.withLock { local() + $0 } }
}
