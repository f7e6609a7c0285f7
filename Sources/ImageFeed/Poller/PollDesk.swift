import FeedStream
import Foundation

/// What a poller wants of its store: one transaction for all that comes up while the last one runs.
package final class PollDesk {
  /// A wish, until it is granted or nobody waits for it any more.
  private final class Job: Cancellable {
    let work: PollWork
    var done: ((Result<PollAnswer, FeedStoreError>) -> Void)?

    init(_ work: PollWork, _ done: @escaping (Result<PollAnswer, FeedStoreError>) -> Void) {
      self.work = work
      self.done = done
    }

    func cancel() { done = nil }

    /// A claim that nobody waits for is none; what was answered is noted all the same.
    var isWanted: Bool { if case .claim = work { done != nil } else { true } }
  }

  private let store: any PollStore
  private let worker: SerialWorker
  private var waiting: [Job] = []
  private var isBusy = false

  package init(_ store: any PollStore, _ worker: SerialWorker) {
    self.store = store
    self.worker = worker
  }

  func claim(_ claim: PollClaim, _ done: @escaping (Result<PollVerdict, FeedStoreError>) -> Void) -> any Cancellable {
    add(.claim(claim)) { answer in
      done(answer.map { if case .verdict(let verdict) = $0 { verdict } else { .notDue(claim.feed) } })
    }
  }

  func record(
    _ record: PollRecord, now: Date, _ done: @escaping (Result<Bool, FeedStoreError>) -> Void
  ) -> any Cancellable {
    add(.record(record, now: now)) { answer in done(answer.map { $0 == .recorded(true) }) }
  }

  private func add(_ work: PollWork, _ done: @escaping (Result<PollAnswer, FeedStoreError>) -> Void) -> any Cancellable
  {
    let job = Job(work, done)
    waiting.append(job)
    next()
    return job
  }

  private func next() {
    guard !isBusy else { return }
    let jobs = waiting.filter(\.isWanted)
    waiting = []
    guard !jobs.isEmpty else { return }
    isBusy = true
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
