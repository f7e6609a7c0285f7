/// Runs blocking work aside, one piece at a time, in the order in which it was asked for.
///
///     let disk = SerialWorker(on: loop)
///     disk.publisher { try store.read() }      // runs on the thread pool when somebody subscribes
///       .sink { … }                            // and is delivered on the loop
///
/// Lives on its scheduler's thread, as streams do.
public final class SerialWorker {
  private let scheduler: any LoopScheduler
  private var waiting = FIFO<Job>()
  private var isBusy = false

  /// - Parameter scheduler: whose ``LoopScheduler/offload(_:completion:)`` runs the work: an ``EventLoop``, or virtual
  ///   time in a test.
  public init(on scheduler: any LoopScheduler) { self.scheduler = scheduler }

  /// A publisher that asks for `work` when it is subscribed to, delivers its result and finishes.
  ///
  /// **Demand:** the work is asked for at the subscription; its result is held until asked for. **Failure:** what `work`
  /// throws. **Cancellation:** work that has not begun is not begun; work that has begun ends unheard.
  public func publisher<T: Sendable, E: Error>(
    _ work: @escaping @Sendable () throws(E) -> T
  ) -> AnyPublisher<T, E> {
    AsideWork(self, work).eraseToAnyPublisher()
  }

  /// Asks for `work` at once.
  ///
  /// - Parameters:
  ///   - work: runs aside, after all work asked for before.
  ///   - completion: receives the result on the scheduler.
  /// - Returns: prevents `completion`, and `work` too if it has not begun. Dropping it does not cancel.
  @discardableResult
  public func perform<T: Sendable, E: Error>(
    _ work: @escaping @Sendable () throws(E) -> T, completion: @escaping (Result<T, E>) -> Void
  ) -> any Cancellable {
    let job = Job()
    job.start = { [scheduler] done in
      scheduler.offload {
        Result(catching: work)
      } completion: { result in
        if !job.isCancelled { completion(result) }
        done()
      }
    }
    waiting.append(job)
    next()
    return job
  }

  private func next() {
    while !isBusy, let job = waiting.popFirst() {
      guard let start = job.start else { continue }
      job.start = nil
      isBusy = true
      start { [self] in
        isBusy = false
        next()
      }
    }
  }

  private final class Job: Cancellable {
    /// Begins the work and calls back when it has ended; gone once begun or cancelled.
    var start: ((@escaping () -> Void) -> Void)?
    private(set) var isCancelled = false

    func cancel() {
      isCancelled = true
      start = nil
    }
  }
}
