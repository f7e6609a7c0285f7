import FeedStream
import FeedStreamTesting

/// Virtual time with a clock that a test can set.
final class SettableClock: RevokingScheduler {
  private let time: VirtualTimeScheduler
  /// The difference between the clock and virtual time.
  var offset: StreamInstant.Stride = .zero

  init(_ time: VirtualTimeScheduler) { self.time = time }

  var now: StreamInstant { time.now.advanced(by: offset) }
  var minimumTolerance: StreamInstant.Stride { .zero }

  func schedule(options: Never?, _ action: @escaping () -> Void) { time.schedule(options: nil, action) }

  func schedule(
    after date: StreamInstant, tolerance: StreamInstant.Stride, options: Never?, _ action: @escaping () -> Void
  ) {
    time.schedule(after: inVirtualTime(date), tolerance: tolerance, options: nil, action)
  }

  func schedule(
    after date: StreamInstant, interval: StreamInstant.Stride, tolerance: StreamInstant.Stride, options: Never?,
    _ action: @escaping () -> Void
  ) -> any Cancellable {
    time.schedule(after: inVirtualTime(date), interval: interval, tolerance: tolerance, options: nil, action)
  }

  func scheduleOnce(after date: StreamInstant, _ action: @escaping () -> Void) -> (any Cancellable)? {
    time.scheduleOnce(after: inVirtualTime(date), action)
  }

  private func inVirtualTime(_ date: StreamInstant) -> StreamInstant { time.now.advanced(by: now.distance(to: date)) }
}
