import FeedStream
import Foundation

/// Wakes a ``PollingRun`` at the right time, and detects when the wall clock and elapsed time diverge.
final class PollingClock {
  /// The longest sleep, in seconds: it limits the time until a suspension of the machine is detected.
  private static let longestSleep = 60.0

  private let scheduler: any LoopScheduler
  private let wall: () -> Date
  private var timer: (any Cancellable)?
  /// The time when the timer fires.
  private var wakes: StreamInstant?
  private var lastLook: (wall: Date, instant: StreamInstant)?

  /// - Parameter wall: the wall clock.
  init(_ scheduler: any LoopScheduler, wall: @escaping () -> Date) {
    self.scheduler = scheduler
    self.wall = wall
  }

  /// Calls `action` at `time` by the wall clock, or earlier.
  func wake(at time: Double, _ action: @escaping () -> Void) {
    let delay = min(max(time - wall().timeIntervalSince1970, 0.001), Self.longestSleep)
    let pause = StreamInstant.Stride.seconds(delay)
    let wakes = scheduler.now.advanced(by: pause)
    // A timer that fires sooner sets the next one.
    if timer != nil, let set = self.wakes, set <= wakes { return }
    timer?.cancel()
    self.wakes = wakes
    timer = scheduler.once(after: pause) { [weak self] in
      self?.timer = nil
      action()
    }
  }

  func cancel() { timer.take()?.cancel() }

  /// The number of seconds by which the wall clock has advanced beyond the elapsed time since the last call, because
  /// the machine slept or the clock was set.
  func jump() -> Double {
    let present = (wall: wall(), instant: scheduler.now)
    defer { lastLook = present }
    guard let lastLook else { return 0 }
    let passed = lastLook.instant.distance(to: present.instant).seconds
    return present.wall.timeIntervalSince(lastLook.wall) - passed
  }
}
