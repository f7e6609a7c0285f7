import Foundation
import Synchronization

/// A wall clock that is set manually, so that a week can pass in the demo.
final class DemoClock: Sendable {
  private let instant: Mutex<Date>

  init(_ start: Date) { instant = Mutex(start) }

  var now: Date { instant.withLock { $0 } }

  func advance(by seconds: TimeInterval) { instant.withLock { $0 += seconds } }
}
