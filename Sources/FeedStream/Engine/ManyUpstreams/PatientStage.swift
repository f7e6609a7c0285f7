/// A ``SequentialStage`` that can wait before it subscribes: `delaySubscription`, `retry` and `repeat` with a pause.
@usableFromInline class PatientStage<Output, Failure: Error>: SequentialStage<Output, Failure> {
  @exclusivity(unchecked) private var alarm: Alarm?

  /// Subscribes when `alarm` rings, unless cancelled before.
  @usableFromInline final func subscribe(_ attach: @escaping (Upstream) -> Void, at alarm: Alarm) {
    guard isActive else { return }
    self.alarm = alarm
    alarm.set { [self] in subscribe(attach) }
  }

  @usableFromInline override func cancel() {
    super.cancel()
    alarm?.cancel()
  }
}
