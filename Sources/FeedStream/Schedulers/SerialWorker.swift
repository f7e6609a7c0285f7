/// Runs blocking work off the loop, one piece at a time, in the order of the requests.
///
///     let disk = SerialWorker(on: loop)
///     disk.publisher { () throws(StoreError) in try store.read() }   // runs on the thread pool on subscription
///       .sink { print($0) } receiveValue: { print($0) }              // the result is delivered on the loop
///
/// Use it on its scheduler's thread, like a stream.
public final class SerialWorker {
  private let scheduler: any LoopScheduler
  @exclusivity(unchecked) private var waiting = FIFO<AsideJob>()
  @exclusivity(unchecked) private var isBusy = false

  /// - Parameter scheduler: runs the work with its ``LoopScheduler/offload(_:completion:)``: an ``EventLoop``, or
  ///   virtual time in a test.
  public init(on scheduler: any LoopScheduler) { self.scheduler = scheduler }

  /// A publisher that runs `work` on subscription, delivers the result, and finishes.
  ///
  /// **Demand:** the work is queued on subscription; its result is held until requested. **Failure:** the error
  /// that `work` throws. **Cancellation:** work that has not begun never runs; the result of work that has begun is
  /// discarded.
  @inlinable public func publisher<T, E: Error>(
    _ work: @escaping @Sendable () throws(E) -> T
  ) -> AnyPublisher<T, E> {
    AsideWork(self, work).eraseToAnyPublisher()
  }

  /// Queues `work` immediately, without a publisher.
  ///
  /// - Parameters:
  ///   - work: runs off the loop, after all earlier work.
  ///   - completion: receives the result on the scheduler.
  /// - Returns: a cancellable that prevents `completion`, and `work` too if it has not begun. Dropping it does not
  ///   cancel the work.
  @inlinable @discardableResult public func perform<T, E: Error>(
    _ work: @escaping @Sendable () throws(E) -> T, completion: @escaping (Result<T, E>) -> Void
  ) -> any Cancellable {
    // Unsafe but correct: only the work writes the variable, and it is read only after the scheduler has reported that
    // the work is done.
    nonisolated(unsafe) var outcome: Result<T, E>?
    let job = AsideJob {
      outcome = Result(catching: work)
    } finish: {
      if let result = outcome { completion(result) }
    }
    add(job)
    return job
  }

  @usableFromInline func add(_ job: AsideJob) {
    waiting.append(job)
    next()
  }

  private func next() {
    while !isBusy, let job = waiting.popFirst() {
      guard let work = job.begin() else { continue }
      isBusy = true
      scheduler.offload(work) { [self] in
        job.end()
        isBusy = false
        next()
      }
    }
  }
}

/// One piece of a ``SerialWorker``'s work. It isn't generic: its closures are created where the types are known, so
/// that no types are looked up at run time when the job passes through `any LoopScheduler`.
@usableFromInline final class AsideJob: Cancellable {
  @exclusivity(unchecked) private var work: (@Sendable () -> Void)?
  @exclusivity(unchecked) private var finish: (() -> Void)?

  @usableFromInline init(_ work: @escaping @Sendable () -> Void, finish: @escaping () -> Void) {
    self.work = work
    self.finish = finish
  }

  /// Returns the work, once; `nil` if it was cancelled.
  fileprivate func begin() -> (@Sendable () -> Void)? {
    defer { work = nil }
    return work
  }

  fileprivate func end() {
    finish.take()?()
  }

  @usableFromInline func cancel() {
    work = nil
    finish = nil
  }
}
