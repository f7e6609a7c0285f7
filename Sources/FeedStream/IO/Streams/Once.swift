extension LoopScheduler {
  /// Runs `action` once after `delay`, unless cancelled before.
  package func once(after delay: StreamInstant.Stride, _ action: @escaping () -> Void) -> any Cancellable {
    if let work = OneShot(self).run(in: delay, action) { return work }
    // A scheduler that takes nothing back but repeating work.
    let alarm = Alarm(delay, self, nil)
    alarm.set(action)
    return AlarmKeeper(alarm)
  }
}

private final class AlarmKeeper: Cancellable {
  private let alarm: Alarm
  init(_ alarm: Alarm) { self.alarm = alarm }
  func cancel() { alarm.cancel() }
}
