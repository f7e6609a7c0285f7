/// A destination that is written by blocking work on the thread pool, one piece at a time.
final class OffloadedSink: ByteSink {
  private let scheduler: any LoopScheduler
  private let writeAll: @Sendable ([Chunk]) -> (written: Int, error: SystemError?)
  private let finish: @Sendable () -> SystemError?
  private let revoke: () -> Void
  private var job: (any Cancellable)?
  private(set) var writtenOfFailed = 0

  /// - Parameters:
  ///   - write: writes all of the chunks, or reports how many of their bytes were written; runs on the thread pool.
  ///   - finish: completes the destination; runs on the thread pool.
  ///   - revoke: called on the scheduler when the sink is closed, even while a piece of work runs.
  init(
    on scheduler: any LoopScheduler, write: @escaping @Sendable ([Chunk]) -> (written: Int, error: SystemError?),
    finish: @escaping @Sendable () -> SystemError? = { nil }, revoke: @escaping () -> Void = {}
  ) {
    self.scheduler = scheduler
    writeAll = write
    self.finish = finish
    self.revoke = revoke
  }

  func write(_ chunks: [Chunk], _ done: @escaping (SystemError?) -> Void) {
    job = scheduler.offload { [writeAll] in
      writeAll(chunks)
    } completion: { [self] written, error in
      writtenOfFailed = written
      job = nil
      done(error)
    }
  }

  func endWriting(_ done: @escaping (SystemError?) -> Void) {
    job = scheduler.offload { [finish] in
      finish()
    } completion: { [self] error in
      job = nil
      done(error)
    }
  }

  func close() {
    job.take()?.cancel()
    revoke()
  }
}
