import FeedStream

extension LoopScheduler {
  /// Runs `action` once after `delay`, unless the result is cancelled before.
  package func later(_ delay: Duration, _ action: @escaping () -> Void) -> any Cancellable {
    let work = Later(action)
    work.timer = schedule(
      after: now.advanced(by: .init(delay)), interval: .seconds(3600), tolerance: minimumTolerance, options: nil
    ) { work.fire() }
    return work
  }
}

/// A repeating timer that is cancelled before it repeats: every scheduler takes those back.
private final class Later: Cancellable {
  var timer: (any Cancellable)?
  private var action: (() -> Void)?

  init(_ action: @escaping () -> Void) { self.action = action }

  func fire() {
    let action = action.take()
    timer.take()?.cancel()
    action?()
  }

  func cancel() {
    action = nil
    timer.take()?.cancel()
  }
}
