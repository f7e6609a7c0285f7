import FeedHTTP
import FeedStream
import Foundation
import ImageFeed

/// The client of one poll, which sends requests only to hosts that the poll has reserved.
///
/// A poll reserves the host of its feed. If a redirect, or a page that links to a feed, leads to a different host, the
/// client first reserves that host. While others have that host or the host rests, the client waits, for at most a
/// minute per poll, which the request's time limit doesn't include. Before it waits, it frees the hosts that have
/// responded for redirects and other processes, so that two polls don't wait for each other. The poll's own host stays
/// reserved in a fleet, or if it rests for longer than usual after a request. If the other host is paused, or will rest
/// for longer than a minute, the client doesn't wait.
final class GuardedClient: HTTPClient {
  /// A host besides the poll's own, and the last response that it sent; `nil` if none arrived.
  struct Visited {
    let host: String
    let response: (status: Int, headers: HTTPHeaders)?

    /// The pause that the host requested, if it is longer than `gap`.
    func pause(gap: Duration, now: Date) -> HostPause? {
      response.flatMap { HostPause(AnswerFacts(status: $0.status, $0.headers, now: now), gap: gap, now: now) }
    }
  }

  private let client: any HTTPClient
  private let scheduler: any LoopScheduler
  /// The poll's own host, and a URL on it that needn't be examined. `nil` if each host must be reserved, or if the own
  /// one has been freed.
  private var host: String?
  private let home: URL?
  private let visit: (String, Duration) -> AnyPublisher<WorkVisit, Never>
  private let leave: ([Visited]) -> Bool
  private var visited: [String: Visited] = [:]
  /// The last host that had to be reserved; `nil` if there was none.
  private(set) var lastHost: String?
  /// The pause because of which the last such host got no request; `nil` if it got one, or the pause has no end.
  private(set) var closed: HostPause?

  /// The maximum number of redirects to follow per request.
  private static let mostRedirects = 10
  /// The time that is left to wait for busy hosts.
  private var patience = StreamInstant.Stride(GuardedClient.longestWait)
  /// The maximum time that a poll waits for busy hosts: a minute.
  static let longestWait = Duration.seconds(60)
  /// The maximum pause before the next attempt to reserve a busy host.
  static let pause = Duration.milliseconds(500)

  /// - Parameters:
  ///   - host: the host that the poll has reserved; `nil` if each host must be reserved.
  ///   - home: the URL of the first request, on that host.
  ///   - visit: reserves another host for at most the given time, or extends its reservation.
  ///   - leave: frees the visited hosts, and the poll's own, while the poll waits; returns false if its own host stays
  ///     reserved.
  init(
    _ client: any HTTPClient, on scheduler: any LoopScheduler, host: String? = nil, home: URL? = nil,
    visit: @escaping (String, Duration) -> AnyPublisher<WorkVisit, Never>, leave: @escaping ([Visited]) -> Bool
  ) {
    (self.client, self.scheduler, self.host, self.home) = (client, scheduler, host, home)
    (self.visit, self.leave) = (visit, leave)
  }

  func get(_ request: HTTPRequest) -> AnyPublisher<HTTPResponse, HTTPError> {
    follow(request) { [client] in client.get($0) }
  }

  func open(_ request: HTTPRequest) -> AnyPublisher<StreamingResponse, HTTPError> {
    follow(request) { [client] in client.open($0) }
  }

  /// The visited hosts, whose reservations the caller ends.
  func end() -> [Visited] {
    defer { visited = [:] }
    return Array(visited.values)
  }

  // MARK: Redirects

  private func follow<Response: RedirectingResponse>(
    _ request: HTTPRequest, _ send: @escaping (HTTPRequest) -> AnyPublisher<Response, HTTPError>
  ) -> AnyPublisher<Response, HTTPError> {
    Deferred { [self] in
      let end = scheduler.now.advanced(by: request.timeout)
      return step(request, [], end, send)
    }
    .eraseToAnyPublisher()
  }

  private func step<Response: RedirectingResponse>(
    _ request: HTTPRequest, _ redirects: [HTTPRedirect], _ end: StreamInstant,
    _ send: @escaping (HTTPRequest) -> AnyPublisher<Response, HTTPError>
  ) -> AnyPublisher<Response, HTTPError> {
    guard let host = otherHost(request.url) else { return receive(request, redirects, end, send) }
    lastHost = host
    let began = scheduler.now
    return enter(host, until: began.advanced(by: patience), for: began.distance(to: end))
      .flatMap { [self] in
        // The wait doesn't count.
        let waited = began.distance(to: scheduler.now)
        patience = max(.zero, patience - waited)
        let end = end.advanced(by: waited)
        return receive(request, redirects, end, send)
      }
      .eraseToAnyPublisher()
  }

  /// Sends one request, whose host is reserved, and follows its response.
  private func receive<Response: RedirectingResponse>(
    _ request: HTTPRequest, _ redirects: [HTTPRedirect], _ end: StreamInstant,
    _ send: @escaping (HTTPRequest) -> AnyPublisher<Response, HTTPError>
  ) -> AnyPublisher<Response, HTTPError> {
    var one = request
    one.leaveRedirectsToCaller()
    one.timeout = max(.milliseconds(1), scheduler.now.distance(to: end))
    return send(one)
      .flatMap { [self] response -> AnyPublisher<Response, HTTPError> in
        var response = response
        response.redirects = redirects + response.redirects
        note(response, from: request.url)
        do throws(HTTPRedirect.Refusal) {
          guard
            let next = try request.redirected(by: response, after: redirects.count, atMost: Self.mostRedirects)
          else { return Just(response).setFailureType(to: HTTPError.self).eraseToAnyPublisher() }
          return step(next.request, redirects + [next.redirect], end, send)
        } catch {
          return Fail(error: HTTPError(error.kind, host: request.url.pollingHost, cause: error.cause))
            .eraseToAnyPublisher()
        }
      }
      .eraseToAnyPublisher()
  }

  // MARK: Hosts

  /// The host of a URL, unless it is the poll's own.
  private func otherHost(_ url: URL) -> String? {
    guard let own = host else { return url.pollingHost }
    guard url != home else { return nil }
    let host = url.pollingHost
    return host == own ? nil : host
  }

  /// Frees the hosts whose requests have ended.
  private func leaveHosts() {
    guard host != nil || !visited.isEmpty else { return }
    if leave(end()) { host = nil }
  }

  private func note(_ response: some RedirectingResponse, from url: URL) {
    guard !visited.isEmpty, let host = otherHost(url) else { return }
    visited[host] = Visited(host: host, response: (response.status, response.headers))
  }

  /// Delivers a value when a request may be sent to another host.
  private func enter(
    _ host: String, until end: StreamInstant, for left: StreamInstant.Stride
  ) -> AnyPublisher<Void, HTTPError> {
    // A little longer than the request, because its result is saved afterwards.
    let duration = Duration.nanoseconds(left.nanoseconds) + .seconds(5)
    return visit(host, duration)
      .setFailureType(to: HTTPError.self)
      .flatMap { [self] visit -> AnyPublisher<Void, HTTPError> in
        func fail(_ cause: String) -> AnyPublisher<Void, HTTPError> {
          Fail(error: HTTPError(.hostIsClosed, host: host, cause: cause)).eraseToAnyPublisher()
        }
        switch visit {
        case .granted:
          closed = nil
          if visited[host] == nil { visited[host] = Visited(host: host, response: nil) }
          return Just(()).setFailureType(to: HTTPError.self).eraseToAnyPublisher()
        case .paused(let end, let reason):
          closed = end.map { HostPause(until: $0, because: reason) }
          return fail(reason)
        case .busy(let duration):
          leaveHosts()
          let wait = max(.milliseconds(5), min(duration, Self.pause))
          guard scheduler.now.advanced(by: StreamInstant.Stride(wait)) < end else {
            return fail("another request to it is running")
          }
          return Just(()).delay(for: wait, scheduler: AnyLoopScheduler(scheduler)).setFailureType(to: HTTPError.self)
            .flatMap { [self] in enter(host, until: end, for: left) }
            .eraseToAnyPublisher()
        }
      }
      .eraseToAnyPublisher()
  }
}
