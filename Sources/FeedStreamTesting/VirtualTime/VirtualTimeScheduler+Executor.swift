import FeedStream

extension VirtualTimeScheduler: TaskExecutor, SerialExecutor {
  /// Enqueues a step of a task, which runs in turn when time is advanced.
  public func enqueue(_ job: consuming ExecutorJob) { agenda.add(.taskJob(UnownedJob(job))) }

  public func asUnownedTaskExecutor() -> UnownedTaskExecutor { UnownedTaskExecutor(ordinary: self) }

  /// The executor for the `unownedExecutor` of an actor in virtual time.
  public func asUnownedSerialExecutor() -> UnownedSerialExecutor { UnownedSerialExecutor(ordinary: actors) }

  /// Traps unless called from work that runs in virtual time.
  public func checkIsolated() {
    precondition(
      isCurrent,
      "This code is not running on the VirtualTimeScheduler; put it in schedule { } or in a task that runs on the scheduler"
    )
  }

  public func isIsolatingCurrentContext() -> Bool? { isCurrent }
}

/// Enqueues the steps of actors.
///
/// Actors need a separate executor: otherwise, a task's step would have to leave the actor first, and would be queued a
/// second time, after work that was scheduled later.
final class ActorLane: SerialExecutor {
  // The agenda, not the scheduler, because an actor may outlive the scheduler. The actor's steps then never run.
  private let agenda: SharedAgenda

  init(_ agenda: SharedAgenda) { self.agenda = agenda }

  func enqueue(_ job: consuming ExecutorJob) { agenda.add(.actorJob(UnownedJob(job))) }

  /// The scheduler that runs on this thread, if it is this lane's.
  private var current: VirtualTimeScheduler? {
    (CurrentDomain.get() as? VirtualTimeScheduler).flatMap { $0.actors === self ? $0 : nil }
  }

  func checkIsolated() {
    precondition(
      current != nil,
      "This code is not running on the actor's VirtualTimeScheduler; put it in a task that runs on the actor")
  }

  func isIsolatingCurrentContext() -> Bool? { current != nil }
}
