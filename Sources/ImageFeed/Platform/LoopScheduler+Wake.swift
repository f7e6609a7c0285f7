package import FeedStream

extension LoopScheduler {
  /// Runs `action` once, unless the result is cancelled before.
  package func wake(after delay: StreamInstant.Stride, _ action: @escaping () -> Void) -> any Cancellable {
    let alarm = SingleAlarm()
    alarm.timer = schedule(
      after: now.advanced(by: delay), interval: .seconds(3600), tolerance: minimumTolerance, options: nil
    ) {
      alarm.timer.take()?.cancel()
      action()
    }
    return AnyCancellable { alarm.timer.take()?.cancel() }
  }
}

/// A timer that can end itself.
private final class SingleAlarm {
  var timer: (any Cancellable)?
}
