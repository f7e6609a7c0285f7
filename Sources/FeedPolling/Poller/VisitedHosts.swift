import FeedStream
import Foundation
import ImageFeed

/// The hosts that one poll of a ``PollingRun`` has reserved besides its own, because a redirect or a link led there.
final class VisitedHosts {
  private let desk: PollDesk
  private let poller: FeedPoller
  private let gap: Duration
  /// The ends of the reservations.
  private var reserved: [String: Date] = [:]
  private var isOver = false

  /// The number of requests that a poll may send, one after another: its page and its feed, each perhaps again without
  /// validators.
  static let mostRequests = 4.0
  /// The maximum duration of a reservation: longer ones count as errors of a clock.
  private static let longest = Duration.seconds(3000)

  init(_ desk: PollDesk, _ poller: FeedPoller, gap: Duration) {
    (self.desk, self.poller, self.gap) = (desk, poller, gap)
  }

  /// The time for which a host is reserved for a poll. If this process ends, others don't wait for the rest of it.
  static func duration(_ timeout: Duration) -> Duration { min(timeout * mostRequests + .seconds(5), longest) }

  func visit(_ host: String, for duration: Duration) -> AnyPublisher<WorkVisit, Never> {
    guard reserved[host] == nil else { return Just(.granted).eraseToAnyPublisher() }
    return Future { [self] promise in
      let visit = HostVisit(host: host, now: poller.cache.now(), lease: Self.duration(duration), gap: gap)
      desk.visit(visit) { [self] in promise(.success(take($0, for: visit))) }
    }
    .eraseToAnyPublisher()
  }

  private func take(_ result: Result<HostHealth?, FeedStoreError>, for visit: HostVisit) -> WorkVisit {
    switch result {
    case .success(nil):
      reserved[visit.host] = visit.reserved
      // The poll was cancelled in the meantime.
      if isOver { end([]) }
      return .granted
    case .success(let closed?):
      let now = poller.cache.now()
      if let end = closed.pausedUntil, end > now { return .paused(until: end, reason: closed.reason) }
      return .busy(for: .seconds(max(0, closed.opens.timeIntervalSince(now))))
    case .failure(let error):
      // Without a store, nothing is known about other requests.
      poller.options.report(error)
      return .granted
    }
  }

  /// Frees the hosts, which then rest, as after any request.
  ///
  /// - Parameter responses: what the hosts have responded.
  func end(_ responses: [GuardedClient.Visited]) {
    isOver = true
    let now = poller.cache.now()
    for (name, end) in reserved {
      var host = HostHealth(name: name)
      host.next = now + gap.seconds
      if let pause = responses.first(where: { $0.host == name })?.pause(gap: gap, now: now) {
        (host.pausedUntil, host.reason) = (pause.until, pause.reason)
      }
      desk.release(HostRelease(host, reserved: end), failed: poller.options.report)
    }
    reserved = [:]
  }
}
