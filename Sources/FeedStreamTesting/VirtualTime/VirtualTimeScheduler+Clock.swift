import FeedStream
import Synchronization

extension VirtualTimeScheduler: Clock {
  public var minimumResolution: Duration { .nanoseconds(1) }

  /// Suspends the task until `deadline`.
  ///
  /// Tasks that run on this scheduler resume in the order in which their sleeps were scheduled.
  ///
  /// - Throws: `CancellationError` as soon as the task is cancelled.
  public func sleep(until deadline: StreamInstant, tolerance: Duration? = nil) async throws {
    try Task.checkCancellation()
    let sleeper = Sleeper(self)
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { sleeper.begin(until: deadline, $0) }
    } onCancel: {
      sleeper.cancel()
    }
  }
}

/// A sleeping task: woken once, by time or by cancellation, whichever comes first.
private final class Sleeper: Sendable {
  private enum Phase {
    case awake
    case asleep(CheckedContinuation<Void, any Error>, Alarm)
    case cancelled
  }
  // @unchecked: the work is only used through the scheduler, which has a lock.
  private struct Alarm: @unchecked Sendable { let work: TimerQueue.Work }

  private let scheduler: VirtualTimeScheduler
  private let phase = Mutex(Phase.awake)

  init(_ scheduler: VirtualTimeScheduler) { self.scheduler = scheduler }

  func begin(until deadline: StreamInstant, _ continuation: CheckedContinuation<Void, any Error>) {
    let isCancelled = phase.withLock { phase in
      if case .cancelled = phase { return true }
      phase = .asleep(continuation, Alarm(work: scheduler.agenda.add(at: deadline, .sleep) { [self] in wake() }))
      return false
    }
    if isCancelled { continuation.resume(throwing: CancellationError()) }
  }

  private func wake() {
    let continuation: CheckedContinuation<Void, any Error>? = phase.withLock { phase in
      guard case .asleep(let continuation, _) = phase else { return nil }
      phase = .awake
      return continuation
    }
    guard let continuation else { return }
    // Sleeps and timers share one order: the task continues at the position of its deadline, not after all other due
    // work.
    scheduler.agenda.waking { continuation.resume() }
  }

  func cancel() {
    let sleep: (CheckedContinuation<Void, any Error>, Alarm)? = phase.withLock { phase in
      defer { phase = .cancelled }
      guard case .asleep(let continuation, let alarm) = phase else { return nil }
      return (continuation, alarm)
    }
    guard let (continuation, alarm) = sleep else { return }
    scheduler.agenda.cancel(alarm.work)
    continuation.resume(throwing: CancellationError())
  }
}
