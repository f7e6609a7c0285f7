extension VirtualTimeScheduler: TaskExecutor, SerialExecutor {
  /// Takes a step of a task; it runs in its turn, when time is moved.
  public func enqueue(_ job: consuming ExecutorJob) { add(.taskJob(UnownedJob(job))) }

  public func asUnownedTaskExecutor() -> UnownedTaskExecutor { UnownedTaskExecutor(ordinary: self) }

  /// What an actor that lives in virtual time returns as its `unownedExecutor`.
  public func asUnownedSerialExecutor() -> UnownedSerialExecutor { UnownedSerialExecutor(ordinary: actors) }

  /// Traps unless called from work that runs in virtual time.
  public func checkIsolated() {
    precondition(
      isCurrent,
      "This code is not running on the VirtualTimeScheduler; put it in schedule { } or in a task that runs on it")
  }

  public func isIsolatingCurrentContext() -> Bool? { isCurrent }
}

/// Takes the steps of actors.
///
/// An executor of its own, because a task's step that ran as an actor's would have to leave the actor first: it would
/// queue up a second time, behind what was scheduled after it.
final class ActorLane: SerialExecutor {
  // Written once, before anything is enqueued. Weak: an actor may outlive the scheduler, and then it stays where it is.
  nonisolated(unsafe) weak var scheduler: VirtualTimeScheduler?

  func enqueue(_ job: consuming ExecutorJob) { scheduler?.add(.actorJob(UnownedJob(job))) }
  func checkIsolated() { scheduler?.checkIsolated() }
  func isIsolatingCurrentContext() -> Bool? { scheduler?.isCurrent }
}
