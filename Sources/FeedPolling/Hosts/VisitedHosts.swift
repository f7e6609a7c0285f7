import FeedHTTP
import FeedStream
import Foundation
import ImageFeed

/// The hosts that one request or poll has reserved, because it is for them, or a redirect or a link led there.
final class VisitedHosts {
  private let visits: HostVisits
  private let gap: Duration
  private let lease: Duration
  private let purpose: String
  private var claims: [String: HostClaim] = [:]

  /// The number of requests that a poll may send, one after another: its page and its feed, each perhaps again without
  /// validators.
  static let mostRequests = 4.0
  /// The maximum duration of a reservation: longer ones count as errors of a clock.
  private static let longest = Duration.seconds(3000)

  /// - Parameters:
  ///   - timeout: the time limit of one request.
  ///   - held: the reservations of hosts that are known already.
  ///   - purpose: names the requests, as in `for an item's page`.
  init(
    _ visits: HostVisits, gap: Duration, timeout: Duration, holding held: [HostClaim] = [],
    purpose: String = "to a redirected request"
  ) {
    (self.visits, self.gap, lease, self.purpose) = (visits, gap, Self.duration(timeout), purpose)
    for claim in held { claims[claim.host] = claim }
  }

  /// The time for which a host is reserved for a poll. If this process ends, others don't wait for the rest of it.
  static func duration(_ timeout: Duration) -> Duration {
    min(timeout * mostRequests + GuardedClient.longestWait + .seconds(5), longest)
  }

  /// A client for one request, which reserves each host here, besides the one that is reserved already.
  func client(_ client: any HTTPClient, on scheduler: any LoopScheduler) -> GuardedClient {
    GuardedClient(client, on: scheduler) { [self] host, _ in
      visit(host)
    } leave: { [self] in
      end($0)
      return true
    }
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
      if !closed.isHeld, closed.opens > now + GuardedClient.longestWait.seconds {
        let reason = closed.pace?.words(for: host).first ?? "\(host) rests after a request"
        return .paused(until: closed.opens, reason: reason)
      }
      return .busy(for: .seconds(max(0, closed.reopens(at: now).timeIntervalSince(now))))
    case .failure(let error):
      // Without a store, nothing is known about other requests.
      visits.report(error)
      return .granted
    }
  }

  /// Frees the hosts. Those that received a request then rest, as after any request.
  ///
  /// - Parameter responses: what the hosts that received a request have responded.
  /// - Returns: the states of the hosts, by name.
  @discardableResult func end(_ responses: [GuardedClient.Visited]) -> [String: HostHealth] {
    let claims = claims
    self.claims = [:]
    return Dictionary(
      uniqueKeysWithValues: claims.map { host, claim in
        let visited = responses.first { $0.host == host }
        return (host, visited.map { claim.end(after: $0.response, purpose) } ?? claim.freeUnused())
      })
  }
}
