/// Runs the jobs of tasks on a loop of a group.
final class LoopTaskExecutor: TaskExecutor {
  private let domain: any StreamDomain

  init(_ domain: any StreamDomain) { self.domain = domain }

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    // A job must always run, because otherwise its task would never end. If a closed loop drops the job, the thread
    // that drops the job runs it.
    domain.bring {
      job.runSynchronously(on: self.asUnownedTaskExecutor())
    } dropped: {
      job.runSynchronously(on: self.asUnownedTaskExecutor())
    }
  }
}

extension EventLoopGroup {
  /// The executor for the next task: the next loop's, or virtual time's own.
  var nextExecutor: any TaskExecutor {
    let rail = nextRail()
    return rail.domain.taskExecutor ?? LoopTaskExecutor(rail.domain)
  }
}
