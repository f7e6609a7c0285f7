import FeedHTTP
import FeedStream
import Foundation
import ImageFeed

/// Requests that aren't for feeds: each claims its host in the store, like a poll.
final class HostVisits: Cancellable {
  let store: any PollStore
  let cache: FeedCache
  /// Receives the store's error when a host can't be freed.
  let report: (FeedStoreError) -> Void
  private let scheduler: any LoopScheduler
  /// The next attempts to free hosts, by number.
  private var retries: [Int: (release: HostRelease, timer: any Cancellable)] = [:]
  private var retryCount = 0
  private var isOver = false

  /// The pause before the next attempt to use the store, while it fails.
  static let policy = RetryPolicy.exponential(from: .seconds(1), cap: .seconds(60), jitter: 0)

  init(
    store: any PollStore, cache: FeedCache, on scheduler: any LoopScheduler, report: @escaping (FeedStoreError) -> Void
  ) {
    (self.store, self.cache, self.scheduler, self.report) = (store, cache, scheduler, report)
  }

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

  /// Frees a host. While the store fails, tries again until the reservation is over, because others wait for a
  /// reservation as long as this process runs.
  func free(_ release: HostRelease, attempt: Int = 0) {
    let store = store
    cache.worker.perform {
      () throws(FeedStoreError) in
      _ = try store.carryOut([.release(release)])[0].get()
    } completion: { [self] (result: Result<Void, FeedStoreError>) in
      guard case .failure(let error) = result else { return }
      report(error)
      guard !isOver, release.reserved > cache.now() else { return }
      var unused = SystemRandomNumberGenerator()
      retryCount += 1
      let number = retryCount
      let timer = scheduler.once(after: Self.policy.pause(before: attempt, using: &unused)) { [self] in
        retries[number] = nil
        free(release, attempt: attempt + 1)
      }
      retries[number] = (release, timer)
    }
  }

  /// Makes one last attempt to free each host that isn't free yet, because the store failed.
  func cancel() {
    isOver = true
    let last = retries
    retries = [:]
    for retry in last.values {
      retry.timer.cancel()
      free(retry.release)
    }
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

  var host: String { visit.host }

  fileprivate init(
    _ visit: HostVisit, _ visits: HostVisits,
    _ decided: @escaping (Result<HostHealth?, FeedStoreError>) -> Void
  ) {
    (self.visit, self.visits, self.decided) = (visit, visits, decided)
  }

  fileprivate func decide(_ answer: Result<PollAnswer, FeedStoreError>) {
    let closed = answer.map { answer -> HostHealth? in if case .visit(let host) = answer { host } else { nil } }
    if case .success(nil) = closed { isGranted = true }
    if isOver { freeUnused() }
    decided.take()?(closed)
  }

  /// Frees the host of a request that was cancelled.
  func cancel() {
    guard !isOver else { return }
    end(after: nil, "")
  }

  /// Frees the host, to which no request was sent, so that it doesn't rest.
  @discardableResult func freeUnused() -> HostHealth {
    (isOver, decided) = (true, nil)
    var state = HostHealth(name: visit.host)
    state.next = visits.cache.now()
    free(state, isUnused: true)
    return state
  }

  /// Frees the host after a request, and records a pause that it has requested.
  ///
  /// - Parameters:
  ///   - response: the status and the headers of the response; `nil` if none came.
  ///   - purpose: names the request, as in `for an item's page`.
  /// - Returns: the state of the host, with the time when it may be requested again.
  @discardableResult func end(after response: (status: Int, headers: HTTPHeaders)?, _ purpose: String) -> HostHealth {
    (isOver, decided) = (true, nil)
    let state = state(after: response, purpose)
    free(state)
    return state
  }

  private func state(after response: (status: Int, headers: HTTPHeaders)?, _ purpose: String) -> HostHealth {
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
    return state
  }

  private func free(_ state: HostHealth, isUnused: Bool = false) {
    guard isGranted else { return }
    isGranted = false
    var release = HostRelease(state, reserved: visit.reserved, ended: visits.cache.now())
    release.isUnused = isUnused
    visits.free(release)
  }
}
