/// Jobs of tasks and actors that arrive when their loop is closed: run one at a time by whoever brings them, so that a
/// task that comes back from elsewhere ends instead of waiting forever.
///
/// The loop holds it from the start and leaves it when it is closed.
final class LateJobs: Sendable {
  private struct Contents {
    var jobs: ContiguousArray<UnownedJob> = []
    var isHeld = true
  }

  private let state = Locked(Contents())

  /// Adds a job.
  ///
  /// - Returns: true when the caller holds the jobs now and must run them.
  func add(_ job: UnownedJob) -> Bool {
    state.withLock { state in
      state.jobs.append(job)
      defer { state.isHeld = true }
      return !state.isHeld
    }
  }

  /// The next job to run; when there is none, `leave` runs and the caller holds the jobs no longer.
  func next(orLeave leave: () -> Void) -> UnownedJob? {
    state.withLock { state in
      guard state.jobs.isEmpty else { return state.jobs.removeFirst() }
      leave()
      state.isHeld = false
      return nil
    }
  }
}
