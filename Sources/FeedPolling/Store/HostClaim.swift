import FeedHTTP
import FeedStream
import Foundation
import ImageFeed

/// Requests that aren't for feeds: each claims its host in the store, like a poll.
struct HostVisits {
  let store: any PollStore
  let cache: FeedCache
  /// Receives the store's error when a host can't be freed.
  let report: (FeedStoreError) -> Void

  /// Claims a host for one request.
  ///
  /// - Parameters:
  ///   - lease: the time that the request may take.
  ///   - gap: the time between two requests to the host.
  ///   - decided: receives `nil` if the request may be sent, or the state of the closed host; not called after the
  ///     claim has been cancelled.
  func claim(
    _ host: String, lease: Duration, gap: Duration,
    decided: @escaping (Result<HostHealth?, FeedStoreError>) -> Void
  ) -> HostClaim {
    let visit = HostVisit(host: host, now: cache.now(), lease: lease, gap: gap)
    let claim = HostClaim(visit, self, decided)
    let store = store
    // The claim is retained, because a host that was claimed must be freed.
    cache.worker.perform {
      store.carryOut([.visit(visit)])[0]
    } completion: { (result: Result<Result<PollAnswer, FeedStoreError>, Never>) in
      claim.decide(result.get())
    }
    return claim
  }
}

/// The right to send a host one request.
final class HostClaim: Cancellable {
  private let visit: HostVisit
  private let visits: HostVisits
  private var decided: ((Result<HostHealth?, FeedStoreError>) -> Void)?
  /// True while the host is reserved.
  private var isGranted = false
  private var isOver = false

  fileprivate init(
    _ visit: HostVisit, _ visits: HostVisits,
    _ decided: @escaping (Result<HostHealth?, FeedStoreError>) -> Void
  ) {
    (self.visit, self.visits, self.decided) = (visit, visits, decided)
  }

  fileprivate func decide(_ answer: Result<PollAnswer, FeedStoreError>) {
    let closed = answer.map { answer -> HostHealth? in if case .visit(let host) = answer { host } else { nil } }
    if case .success(nil) = closed { isGranted = true }
    if isOver { free() }
    decided.take()?(closed)
  }

  /// Frees the host of a request that is not sent, or was cancelled.
  func cancel() {
    guard !isOver else { return }
    (isOver, decided) = (true, nil)
    free()
  }

  /// Frees the host after a request, and records a pause that it has requested.
  ///
  /// - Parameters:
  ///   - response: the status and the headers of the response; `nil` if none came.
  ///   - purpose: names the request, as in `for an item's page`.
  /// - Returns: the state of the host, with the time when it may be requested again.
  @discardableResult func end(after response: (status: Int, headers: HTTPHeaders)?, _ purpose: String) -> HostHealth {
    isOver = true
    var state = HostHealth(name: visit.host)
    var pace = HostPace()
    let now = visits.cache.now()
    if let (status, headers) = response {
      let facts = AnswerFacts(status: status, headers, now: now)
      pace.quota = facts.quota
      if let pause = HostPause(facts, gap: visit.gap, now: now) {
        state.pausedUntil = pause.until
        state.reason =
          facts.pauses ? "the server requested a pause in its response \(purpose) (status \(status))" : pause.reason
      }
    }
    state.next = now + max(visit.gap.seconds, pace.rest)
    free(state)
    return state
  }

  private func free() {
    var state = HostHealth(name: visit.host)
    state.next = visits.cache.now() + visit.gap.seconds
    free(state)
  }

  private func free(_ state: HostHealth) {
    guard isGranted else { return }
    isGranted = false
    let (store, release) = (visits.store, PollWork.release(HostRelease(state, reserved: visit.reserved)))
    visits.cache.worker.perform {
      () throws(FeedStoreError) in
      _ = try store.carryOut([release])[0].get()
    } completion: { [report = visits.report] (result: Result<Void, FeedStoreError>) in
      if case .failure(let error) = result { report(error) }
    }
  }
}
