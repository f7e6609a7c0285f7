/// A ``SerialStage`` that waits before it subscribes: `delaySubscription`, `retry` with a pause.
@usableFromInline
class PatientStage<Output, Failure: Error>: SerialStage<Output, Failure> {
  private let alarm: Alarm

  @usableFromInline
  init(_ name: StaticString, _ down: Downstream<Output, Failure>, _ alarm: Alarm) {
    self.alarm = alarm
    super.init(name, down)
  }

  /// Subscribes when the alarm rings, unless cancelled before.
  @usableFromInline
  final func subscribeLater(_ attach: @escaping (Upstream) -> Void) {
    guard isActive else { return }
    alarm.set { [self] in subscribe(attach) }
  }

  @usableFromInline
  override func cancel() {
    super.cancel()
    alarm.cancel()
  }
}
