import FeedStream
import Harness

/// An event loop that reports when its repeating timers fire, and when they were due.
final class WatchedLoop: LoopScheduler {
  typealias SchedulerTimeType = StreamInstant
  typealias SchedulerOptions = Never

  private let loop: EventLoop
  private let onTick: (_ lateNanoseconds: Int64) -> Void

  init(_ loop: EventLoop, onTick: @escaping (Int64) -> Void) {
    self.loop = loop
    self.onTick = onTick
  }

  var now: StreamInstant { loop.now }
  var minimumTolerance: StreamInstant.Stride { loop.minimumTolerance }

  func schedule(options: Never?, _ action: @escaping () -> Void) { loop.schedule(action) }

  func schedule(
    after date: StreamInstant, tolerance: StreamInstant.Stride, options: Never?, _ action: @escaping () -> Void
  ) {
    loop.schedule(after: date, tolerance: tolerance, options: options, action)
  }

  func schedule(
    after date: StreamInstant, interval: StreamInstant.Stride, tolerance: StreamInstant.Stride, options: Never?,
    _ action: @escaping () -> Void
  ) -> any Cancellable {
    loop.schedule(after: date, interval: interval, tolerance: tolerance, options: options) { [loop, onTick] in
      onTick(date.distance(to: loop.now).nanoseconds)
      action()
    }
  }

  func offload<T>(
    _ work: @escaping @Sendable () -> T, completion: @escaping (T) -> Void
  ) -> any Cancellable {
    loop.offload(work, completion: completion)
  }
}

/// A timer of a millisecond that records how long the loop made it wait.
final class Pulse {
  /// The loop's longest delay, in milliseconds: by the wall clock, and in its own thread's CPU time, to which other
  /// programs add nothing.
  private(set) var longest = (wall: 0.0, processor: 0.0)
  private var last = (wall: Clock.wall.now, processor: Clock.thread.now)
  private var timer: (any Cancellable)?

  init(on loop: EventLoop) {
    timer = loop.schedule(
      after: loop.now, interval: .milliseconds(1), tolerance: .nanoseconds(0), options: nil
    ) { [unowned self] in beat() }
  }

  /// Returns the longest delay so far, and resets it.
  func take() -> (wall: Double, processor: Double) {
    defer { longest = (0, 0) }
    return longest
  }

  func stop() { timer?.cancel() }

  private func beat() {
    let now = (wall: Clock.wall.now, processor: Clock.thread.now)
    longest.wall = max(longest.wall, (now.wall - last.wall) / 1e6 - 1)
    longest.processor = max(longest.processor, (now.processor - last.processor) / 1e6)
    last = now
  }
}
