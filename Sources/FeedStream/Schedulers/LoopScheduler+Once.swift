extension LoopScheduler {
  /// Runs `action` once after `delay`, unless cancelled first.
  package func once(after delay: StreamInstant.Stride, _ action: @escaping () -> Void) -> any Cancellable {
    if let revoking = self as? any RevokingScheduler<StreamInstant>,
      let work = revoking.scheduleOnce(after: now.advanced(by: delay), action)
    {
      return work
    }
    let alarm = Alarm(delay, self, nil)
    alarm.set(action)
    return alarm
  }

  /// Runs `action` once after `delay`, unless cancelled first.
  @_disfavoredOverload
  package func once(after delay: Duration, _ action: @escaping () -> Void) -> any Cancellable {
    once(after: StreamInstant.Stride(delay), action)
  }
}
