import FeedHTTP
import FeedStream
import Foundation
import ImageFeed

/// The client of one poll, which sends requests only to hosts that the poll has leased in the fleet.
///
/// The lease is for one host. If a redirect, or a page that links to a feed, leads to a different host, the client
/// first leases that host. While another worker has that host or the host rests, the client waits, but no longer than
/// the request's time limit.
final class GuardedClient: HTTPClient {
  private let client: any HTTPClient
  private let lease: WorkLease
  private let worker: FleetWorker
  private var visited: Set<String> = []

  /// The maximum number of redirects to follow per request.
  private static let mostRedirects = 10
  /// The maximum pause before the next attempt to lease a busy host, or after a failure of the engine.
  private static let pause = Duration.milliseconds(500)

  init(_ lease: WorkLease, of worker: FleetWorker, _ trace: PollTrace?) {
    client = trace?.client(worker.client) ?? worker.client
    self.lease = lease
    self.worker = worker
  }

  func get(_ request: HTTPRequest) -> AnyPublisher<HTTPResponse, HTTPError> {
    follow(request) { [client] in
      client.get($0)
    } head: { response, redirects in
      response.redirects = redirects + response.redirects
      return (response.status, response.headers, response.isPrivate)
    }
  }

  func open(_ request: HTTPRequest) -> AnyPublisher<StreamingResponse, HTTPError> {
    follow(request) { [client] in
      client.open($0)
    } head: { response, redirects in
      response.redirects = redirects + response.redirects
      return (response.status, response.headers, response.isPrivate)
    }
  }

  /// Frees visited hosts.
  func end() -> [AnyPublisher<Void, FleetError>] {
    defer { visited = [] }
    return visited.map { worker.queue.endVisit(of: $0, with: lease, gap: worker.options.gap) }
  }

  // MARK: Redirects

  private typealias Head<Response> = (inout Response, [HTTPRedirect]) -> (
    status: Int, headers: HTTPHeaders, isPrivate: Bool?
  )

  private func follow<Response>(
    _ request: HTTPRequest, _ send: @escaping (HTTPRequest) -> AnyPublisher<Response, HTTPError>,
    head: @escaping Head<Response>
  ) -> AnyPublisher<Response, HTTPError> {
    Deferred { [self] in
      let end = worker.scheduler.now.advanced(by: request.timeout)
      return step(request, [], end, send, head)
    }
    .eraseToAnyPublisher()
  }

  private func step<Response>(
    _ request: HTTPRequest, _ redirects: [HTTPRedirect], _ end: StreamInstant,
    _ send: @escaping (HTTPRequest) -> AnyPublisher<Response, HTTPError>, _ head: @escaping Head<Response>
  ) -> AnyPublisher<Response, HTTPError> {
    enter(request.url, until: end)
      .flatMap { [self] in
        var one = request
        one.followsRedirects = false
        one.timeout = max(.milliseconds(1), worker.scheduler.now.distance(to: end))
        return send(one)
      }
      .flatMap { [self] answer -> AnyPublisher<Response, HTTPError> in
        var answer = answer
        let (status, headers, isPrivate) = head(&answer, redirects)
        func fail(_ kind: HTTPError.Kind, _ cause: String = "") -> AnyPublisher<Response, HTTPError> {
          Fail(error: HTTPError(kind, host: request.url.pollingHost, cause: cause)).eraseToAnyPublisher()
        }
        do throws(HTTPRedirect.Refusal) {
          guard request.followsRedirects, let redirect = try HTTPRedirect(status, headers["Location"], of: request)
          else { return Just(answer).setFailureType(to: HTTPError.self).eraseToAnyPublisher() }
          guard redirects.count < Self.mostRedirects else {
            return fail(.tooManyRedirects(limit: Self.mostRedirects))
          }
          return step(request.following(redirect, isPrivate: isPrivate), redirects + [redirect], end, send, head)
        } catch {
          return fail(error.kind, error.cause)
        }
      }
      .eraseToAnyPublisher()
  }

  // MARK: Hosts

  /// Delivers a value when a request may be sent to the host of a URL.
  private func enter(_ url: URL, until end: StreamInstant) -> AnyPublisher<Void, HTTPError> {
    let host = url.pollingHost
    guard host != lease.host, !visited.contains(host) else {
      return Just(()).setFailureType(to: HTTPError.self).eraseToAnyPublisher()
    }
    let left = worker.scheduler.now.distance(to: end)
    // A little longer than the request, because its result is saved afterwards.
    let duration = Duration.nanoseconds(left.nanoseconds) + .seconds(5)
    return worker.queue.visit(host, with: lease, by: worker.name, for: duration)
      .catch { _ in Just(.busy(for: Self.pause)) }
      .setFailureType(to: HTTPError.self)
      .flatMap { [self] visit -> AnyPublisher<Void, HTTPError> in
        func fail(_ cause: String) -> AnyPublisher<Void, HTTPError> {
          Fail(error: HTTPError(.hostIsClosed, host: host, cause: cause)).eraseToAnyPublisher()
        }
        switch visit {
        case .granted:
          visited.insert(host)
          return Just(()).setFailureType(to: HTTPError.self).eraseToAnyPublisher()
        case .paused(_, let reason): return fail(reason)
        case .busy(let duration):
          let wait = max(.milliseconds(5), min(duration, Self.pause))
          guard worker.scheduler.now.advanced(by: StreamInstant.Stride(wait)) < end else {
            return fail("another worker is requesting it")
          }
          return Just(()).delay(for: wait, scheduler: worker.scheduler).setFailureType(to: HTTPError.self)
            .flatMap { [self] in enter(url, until: end) }
            .eraseToAnyPublisher()
        }
      }
      .eraseToAnyPublisher()
  }
}
