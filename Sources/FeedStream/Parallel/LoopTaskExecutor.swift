/// Runs the jobs of tasks on a loop of a group.
final class LoopTaskExecutor: TaskExecutor {
  private let domain: any StreamDomain

  init(_ domain: any StreamDomain) { self.domain = domain }

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    // A task that never runs would never end: one that a closed loop drops runs where it is dropped.
    domain.bring {
      job.runSynchronously(on: self.asUnownedTaskExecutor())
    } dropped: {
      job.runSynchronously(on: self.asUnownedTaskExecutor())
    }
  }
}

extension EventLoopGroup {
  /// The executor for the next task: that of virtual time there, otherwise that of the next loop.
  var nextExecutor: any TaskExecutor {
    let rail = nextRail()
    return rail.domain.taskExecutor ?? LoopTaskExecutor(rail.domain)
  }
}
