import FeedStream
import FeedStreamTesting
import Foundation
import Synchronization

/// The wall clock: virtual time counted from a date, which can be set.
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

/// The wall clock of one process: an object that is released when everything that reads it has been released.
///
/// Watching the cache itself for this would slow it down: once an object has a weak reference, retaining it takes twice
/// as long.
final class ProcessClock: Sendable {
  private let wall: WallClock

  init(wall: WallClock) { self.wall = wall }

  var now: Date { wall.now }
}
