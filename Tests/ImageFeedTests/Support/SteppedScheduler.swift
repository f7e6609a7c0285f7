import FeedStream
import FeedStreamTesting

/// Virtual time that reports when a step begins and when it has ended.
final class SteppedScheduler: LoopScheduler {
  private let time: VirtualTimeScheduler
  private let onStep: @Sendable () -> Void

  init(_ time: VirtualTimeScheduler, _ onStep: @escaping @Sendable () -> Void) {
    self.time = time
    self.onStep = onStep
  }

  var now: StreamInstant { time.now }
  var minimumTolerance: StreamInstant.Stride { time.minimumTolerance }

  func schedule(options: Never?, _ action: @escaping () -> Void) { time.schedule(options: options, step(action)) }

  func schedule(
    after date: StreamInstant, tolerance: StreamInstant.Stride, options: Never?, _ action: @escaping () -> Void
  ) {
    time.schedule(after: date, tolerance: tolerance, options: options, step(action))
  }

  func schedule(
    after date: StreamInstant, interval: StreamInstant.Stride, tolerance: StreamInstant.Stride, options: Never?,
    _ action: @escaping () -> Void
  ) -> any Cancellable {
    time.schedule(after: date, interval: interval, tolerance: tolerance, options: options, step(action))
  }

  @discardableResult func offload<T>(
    _ work: @escaping @Sendable () -> T, completion: @escaping (T) -> Void
  ) -> any Cancellable {
    time.offload { [onStep] in
      onStep()
      defer { onStep() }
      return work()
    } completion: { [onStep] in
      onStep()
      completion($0)
      onStep()
    }
  }

  private func step(_ action: @escaping () -> Void) -> () -> Void {
    { [onStep] in
      onStep()
      action()
      onStep()
    }
  }
}
