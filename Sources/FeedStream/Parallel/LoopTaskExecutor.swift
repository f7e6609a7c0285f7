/// Runs the jobs of tasks on a loop of a group.
final class LoopTaskExecutor: TaskExecutor {
  private let domain: any StreamDomain

  init(_ domain: any StreamDomain) { self.domain = domain }

  func enqueue(_ job: consuming ExecutorJob) {
    let errand = Errand(UnownedJob(job), self)
    domain.bring { errand.run() }
  }

  /// A job on its way: one that a closed loop drops runs where it is dropped, because a task that never runs would never end.
  // @unchecked: run once, by the loop or by the one that releases it.
  private final class Errand: @unchecked Sendable {
    private let executor: LoopTaskExecutor
    private var job: UnownedJob?

    init(_ job: UnownedJob, _ executor: LoopTaskExecutor) {
      self.job = job
      self.executor = executor
    }

    func run() { job.take()?.runSynchronously(on: executor.asUnownedTaskExecutor()) }

    deinit { run() }
  }
}

extension EventLoopGroup {
  /// The executor for the next task: that of virtual time there, otherwise that of the next loop.
  var nextExecutor: any TaskExecutor {
    let rail = nextRail()
    return rail.domain.taskExecutor ?? LoopTaskExecutor(rail.domain)
  }
}
