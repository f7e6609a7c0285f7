import FeedStream
import Foundation
import ImageFeed

/// Collects a poller's operations on its store. Those that arrive while a transaction runs, or within ten milliseconds
/// if there are many polls, are carried out in the next transaction.
///
/// A transaction and the switch to the thread pool take longer than a poll's writes.
package final class PollBatcher {
  /// An operation on the store, until it is carried out or abandoned.
  private final class Job: Cancellable {
    let work: PollWork
    var done: ((Result<PollAnswer, FeedStoreError>) -> Void)?

    init(_ work: PollWork, _ done: @escaping (Result<PollAnswer, FeedStoreError>) -> Void) {
      self.work = work
      self.done = done
    }

    func cancel() { done = nil }

    /// False for an abandoned claim or visit. Other operations are carried out even if they are abandoned.
    var isWanted: Bool {
      switch work {
      case .claim, .visit: done != nil
      case .completion, .release, .leaseLost: true
      }
    }
  }

  /// The minimum time between transactions with many polls.
  private static let rest = StreamInstant.Stride.milliseconds(10)

  private let store: any PollStore
  private let worker: SerialWorker
  private let scheduler: any LoopScheduler
  private var waiting: [Job] = []
  private var isBusy = false
  private var opens: StreamInstant?
  private var timer: (any Cancellable)?
  /// True while there are enough running polls that more operations will follow soon.
  var isCrowded = false

  package init(_ store: any PollStore, _ worker: SerialWorker, on scheduler: any LoopScheduler) {
    self.store = store
    self.worker = worker
    self.scheduler = scheduler
  }

  func claim(_ claim: PollClaim, _ done: @escaping (Result<PollVerdict, FeedStoreError>) -> Void) -> any Cancellable {
    add(.claim(claim)) { answer in
      done(answer.map { if case .verdict(let verdict) = $0 { verdict } else { .notDue(claim.feed) } })
    }
  }

  /// - Parameter done: receives the recorded result; see ``PollAnswer/completed(_:)``.
  @discardableResult func complete(
    _ completion: PollCompletion, _ done: @escaping (Result<PollRecord?, FeedStoreError>) -> Void
  ) -> any Cancellable {
    add(.completion(completion)) { answer in
      done(answer.map { if case .completed(let record) = $0 { record } else { nil } })
    }
  }

  /// Makes the worker record all waiting results after its current work, so that a shutdown has to wait only for the
  /// worker.
  func flush() {
    isCrowded = false
    timer.take()?.cancel()
    begin()
  }

  private func add(_ work: PollWork, _ done: @escaping (Result<PollAnswer, FeedStoreError>) -> Void) -> any Cancellable
  {
    let job = Job(work, done)
    waiting.append(job)
    if work.pausesHost {
      // A pause must be saved immediately, in case this process is killed.
      timer.take()?.cancel()
      opens = nil
    }
    next()
    return job
  }

  private func next() {
    guard !isBusy, timer == nil, !waiting.isEmpty else { return }
    guard isCrowded, let opens, opens > scheduler.now else { return begin() }
    timer = scheduler.once(after: scheduler.now.distance(to: opens)) { [weak self] in
      self?.timer = nil
      self?.begin()
    }
  }

  private func begin() {
    let jobs = waiting.filter(\.isWanted)
    waiting = []
    guard !jobs.isEmpty else { return }
    isBusy = true
    opens = scheduler.now.advanced(by: Self.rest)
    let (store, works) = (store, jobs.map(\.work))
    worker.perform { () throws(Never) in
      store.carryOut(works)
    } completion: { [self] result in
      isBusy = false
      for (job, answer) in zip(jobs, result.get()) { job.done.take()?(answer) }
      next()
    }
  }
}
