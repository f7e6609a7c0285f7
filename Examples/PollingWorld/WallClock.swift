import FeedStream
import FeedStreamTesting
import Foundation
import Synchronization

/// The clock on the wall: virtual time counted from a date, until somebody sets it.
final class WallClock: Sendable {
  private let time: VirtualTimeScheduler
  private let offset = Mutex(1_750_000_000.0)

  init(on time: VirtualTimeScheduler) { self.time = time }

  var now: Date {
    Date(timeIntervalSince1970: offset.withLock { $0 } + Double(time.now.nanoseconds) / 1e9)
  }

  /// Sets the clock forward, or back.
  func jump(by seconds: Double) { offset.withLock { $0 += seconds } }
}
