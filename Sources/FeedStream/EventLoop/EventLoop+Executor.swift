/// Runs the jobs of actors and tasks, so that an actor can live on the loop and use its streams:
///
///     actor Reader {
///       let loop: EventLoop
///       nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }
///       init(on loop: EventLoop) { self.loop = loop }
///     }
///
/// Jobs run in the order in which they arrive; priorities are ignored. The loop must run as long as its actors are
/// used: in `.untilStopped` mode, on an ``EventLoopThread``, or as ``EventLoop/main``. A job that has not arrived yet
/// does not keep the loop running.
extension EventLoop: SerialExecutor {
  /// Runs `job` on a turn of the loop. Safe to use from any thread.
  public func enqueue(_ job: consuming ExecutorJob) { post(UnownedJob(job)) }

  public func asUnownedSerialExecutor() -> UnownedSerialExecutor { UnownedSerialExecutor(ordinary: self) }

  /// Traps when the calling thread is not running the loop.
  public func checkIsolated() {
    precondition(
      isCurrent, "EventLoop: this code must run on the loop, which this thread is not running; use execute { }")
  }

  @available(macOS 26.0, iOS 26.0, watchOS 26.0, tvOS 26.0, *)
  public func isIsolatingCurrentContext() -> Bool? { isCurrent }
}
