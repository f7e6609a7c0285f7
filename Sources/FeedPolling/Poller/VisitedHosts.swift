import FeedStream
import ImageFeed

/// The hosts that one poll of a ``PollingRun`` has reserved besides its own, because a redirect or a link led there.
final class VisitedHosts {
  private let visits: HostVisits
  private let gap: Duration
  private let lease: Duration
  private var claims: [String: HostClaim] = [:]

  /// The number of requests that a poll may send, one after another: its page and its feed, each perhaps again without
  /// validators.
  static let mostRequests = 4.0
  /// The maximum duration of a reservation: longer ones count as errors of a clock.
  private static let longest = Duration.seconds(3000)

  /// - Parameter timeout: the time limit of one request.
  init(_ visits: HostVisits, gap: Duration, timeout: Duration) {
    (self.visits, self.gap, lease) = (visits, gap, Self.duration(timeout))
  }

  /// The time for which a host is reserved for a poll. If this process ends, others don't wait for the rest of it.
  static func duration(_ timeout: Duration) -> Duration {
    min(timeout * mostRequests + GuardedClient.longestWait + .seconds(5), longest)
  }

  func visit(_ host: String) -> AnyPublisher<WorkVisit, Never> {
    guard claims[host] == nil else { return Just(.granted).eraseToAnyPublisher() }
    return Future { [self] promise in
      claims[host] = visits.claim(host, lease: lease, gap: gap) { [self] in
        promise(.success(take($0, for: host)))
      }
    }
    .eraseToAnyPublisher()
  }

  private func take(_ result: Result<HostHealth?, FeedStoreError>, for host: String) -> WorkVisit {
    switch result {
    case .success(nil): return .granted
    case .success(let closed?):
      claims[host] = nil
      let now = visits.cache.now()
      if let end = closed.pausedUntil, end > now { return .paused(until: end, reason: closed.reason) }
      return .busy(for: .seconds(max(0, closed.reopens(at: now).timeIntervalSince(now))))
    case .failure(let error):
      // Without a store, nothing is known about other requests.
      visits.report(error)
      return .granted
    }
  }

  /// Frees the hosts, which then rest, as after any request.
  ///
  /// - Parameter responses: what the hosts have responded.
  func end(_ responses: [GuardedClient.Visited]) {
    for (host, claim) in claims {
      if let response = responses.first(where: { $0.host == host })?.response {
        claim.end(after: response, "to a redirected request")
      } else {
        claim.cancel()
      }
    }
    claims = [:]
  }
}
