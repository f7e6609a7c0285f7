/// Holds jobs of tasks and actors that arrive after their loop was closed. They run one at a time, on the thread that
/// enqueues them, so that a task that resumes on the loop completes instead of waiting forever.
///
/// At first, the loop holds the jobs. It gives them up when it is closed.
final class LateJobs: Sendable {
  private struct Contents {
    var jobs: ContiguousArray<UnownedJob> = []
    var isHeld = true
  }

  private let state = Locked(Contents())

  /// Adds a job.
  ///
  /// - Returns: true if the caller now holds the jobs and must run them.
  func add(_ job: UnownedJob) -> Bool {
    state.withLock { state in
      state.jobs.append(job)
      defer { state.isHeld = true }
      return !state.isHeld
    }
  }

  /// Returns the next job to run. If there is none, runs `leave`, and the caller no longer holds the jobs.
  func next(orLeave leave: () -> Void) -> UnownedJob? {
    state.withLock { state in
      guard state.jobs.isEmpty else { return state.jobs.removeFirst() }
      leave()
      state.isHeld = false
      return nil
    }
  }
}
