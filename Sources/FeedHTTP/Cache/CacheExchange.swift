import FeedStream
import Foundation
import PlainText

/// One subscription: follows the redirects of a request, hop by hop. The store or a flight provides each response.
final class CacheExchange: PullSource {
  private let client: CachedHTTPClient
  /// The request of the current hop.
  @exclusivity(unchecked)  // Here and below: used on one thread, and no access lasts across a call that may re-enter.
  private var request: HTTPRequest
  /// The subscription; `nil` before the first demand and after completion or cancellation.
  @exclusivity(unchecked) private var subscription: PullSubscription<HTTPResponse, HTTPError>?
  /// The caller's time limit for all hops together.
  private let timeout: StreamInstant.Stride
  /// The shortest time limit of a request.
  private static let leastTime = StreamInstant.Stride.milliseconds(1)
  private var redirects: [HTTPRedirect] = []
  private var began: StreamInstant?
  private let steps = CacheSteps()
  private var flight: CacheFlight?
  /// False if the store has failed.
  private var hasStore = true

  init(_ client: CachedHTTPClient, _ request: HTTPRequest) {
    self.client = client
    self.request = request
    timeout = request.timeout
  }

  func wanted(by subscription: PullSubscription<HTTPResponse, HTTPError>) -> Bool {
    guard began == nil else { return false }
    self.subscription = subscription
    began = client.instant
    hop()
    return false
  }

  /// The part of the caller's time limit that has not passed.
  private var timeLeft: StreamInstant.Stride {
    timeout - max(0, began.map { $0.distance(to: client.instant) } ?? 0)
  }

  func cancelled(_: PullSubscription<HTTPResponse, HTTPError>) {
    subscription = nil
    steps.cancel()
    leave()
  }

  private func leave() {
    let flight = flight
    self.flight = nil
    flight?.leave(self)
  }

  // MARK: One hop

  private func hop() {
    let request = CacheRequest(self.request, limit: timeout)
    if request.mayNotStore, !request.isOnlyIfCached { return bypass(request) }
    steps.take(client.store.responses(for: request.key, where: request.selection)) { [self] result in
      switch result {
      case .success(let found): choose(request, Self.latest(found ?? []))
      case .failure(let error):
        client.report(.storeFailed(error), self.request)
        hasStore = false
        choose(request, nil)
      }
    }
  }

  /// The most recent response, by the server's `Date` (RFC 9111, section 4).
  private static func latest(_ found: [HTTPStoredResponse]) -> HTTPStoredResponse? {
    func order(_ response: HTTPStoredResponse) -> (Date, Date) {
      let received = response.head.received
      return (response.head.headers["Date"].flatMap { HTTPDate.parse($0, now: received) } ?? received, received)
    }
    return found.max { order($0) < order($1) }
  }

  private func choose(_ request: CacheRequest, _ stored: HTTPStoredResponse?) {
    let now = client.now()
    if let stored, !request.isForOriginAlone {
      let freshness = CacheFreshness(stored.head)
      let age = Duration.seconds(min(freshness.age(at: now), 1e9))
      let lifetime = Duration.seconds(min(freshness.lifetime, 1e10))
      switch request.use(of: stored.head, at: now) {
      case .validate: break
      case .fresh:
        guard let response = request.answer(from: stored, at: now) else { break }
        client.report(.fresh(age: age, lifetime: lifetime), self.request)
        return answer(response, isLast: true)
      case _ where request.asksForPart: break
      // If the stored response is stale, the server evaluates the caller's conditions.
      case _ where request.isConditional && !request.isOnlyIfCached: break
      case .stale:
        client.report(.stale(age: age, lifetime: lifetime, isRevalidated: false), self.request)
        return answer(stored.unvalidated(at: now), isLast: true)
      case .staleWhileRevalidating:
        client.report(.stale(age: age, lifetime: lifetime, isRevalidated: !request.isOnlyIfCached), self.request)
        if !request.isOnlyIfCached { client.revalidate(request, stored) }
        return answer(stored.unvalidated(at: now), isLast: true)
      }
    }
    if request.isOnlyIfCached {
      client.report(.onlyIfCached, self.request)
      return answer(.gatewayTimeout(from: self.request.url, at: now), isLast: true)
    }
    if request.asksForPart { return bypass(request) }
    // The caller's own conditions may refer to a version other than the stored one, so they are sent unchanged.
    fly(request, stored: request.isConditional ? nil : stored, isShared: true)
  }

  /// Sends the request to the server as if there were no cache.
  private func bypass(_ request: CacheRequest) {
    client.report(.bypassed, self.request)
    fly(request, stored: nil, isShared: false)
  }

  /// Sends the request to the server, or waits for an identical request that is in flight.
  private func fly(_ request: CacheRequest, stored: HTTPStoredResponse?, isShared: Bool) {
    if isShared, request.maySharePending, let flight = client.flights[request.sharingKey], flight.isPending,
      // After redirects, that request may have more time left than this one.
      flight.timeout <= self.request.timeout
    {
      client.report(.shared, self.request)
      self.flight = flight
      return flight.join(self)
    }
    let flight = CacheFlight(
      client, request, stored: stored, isShared: isShared, isInBackground: false, hasStore: hasStore)
    self.flight = flight
    flight.join(self)
    flight.start()
  }

  // MARK: The reports of a flight

  /// Handles the flight's response; the completion comes later. If this request may not share the response, the request
  /// is sent separately.
  func receive(_ outcome: CacheFlight.Outcome, isFirst: Bool) {
    guard subscription != nil else { return }
    switch outcome.result {
    case .success(let response):
      let request = CacheRequest(self.request, limit: timeout)
      guard
        isFirst
          || outcome.mayBeShared(by: request, at: client.now()) && !(outcome.isGatewayTimeout && mayWaitLonger)
      else { return resend(outcome.stored) }
      answer(response, isLast: false)
    case .failure(var error):
      if case .timedOut = error.kind, let flight, flight.isOutOfTime {
        if !isFirst, mayWaitLonger { return resend(outcome.stored) }
        // After redirects, the flight's limit was only the rest of the caller's.
        if flight.timeout != timeout { error.cause = "the limit is \(timeout.duration.brief)" }
      }
      complete(.failure(error))
    }
  }

  /// True if the flight has run out of time, but this exchange has enough time left for a request: the flight began
  /// earlier, or had less time left after redirects. If little is left, the flight's result is as good as another's.
  private var mayWaitLonger: Bool { flight?.isOutOfTime == true && timeLeft >= min(.seconds(1), timeout * 0.1) }

  /// Sends the request separately, in the time that is left.
  private func resend(_ stored: HTTPStoredResponse?) {
    flight = nil
    request.timeout = max(Self.leastTime, timeLeft)
    fly(CacheRequest(request, limit: timeout), stored: stored, isShared: false)
  }

  /// Handles the flight's completion: everything that had to be stored has been stored.
  func receiveEnd(of flight: CacheFlight) {
    guard self.flight === flight else { return }
    complete(.finished)
  }

  // MARK: Responding

  /// - Parameter isLast: true when nothing remains to be stored.
  private func answer(_ response: HTTPResponse, isLast: Bool) {
    do throws(HTTPRedirect.Refusal) {
      let limit = client.options.maxRedirects
      if let next = try request.redirected(by: response, after: redirects.count, atMost: limit) {
        redirects.append(next.redirect)
        return follow(next.request)
      }
    } catch {
      return fail(error.kind, error.cause)
    }
    var response = response
    response.redirects = redirects
    guard response.body.count <= request.maxBodyBytes else { return fail(.tooLarge(limit: request.maxBodyBytes)) }
    subscription?.deliver(response)
    if isLast { complete(.finished) }
  }

  private func follow(_ next: HTTPRequest) {
    leave()
    request = next
    request.timeout = max(Self.leastTime, timeLeft)
    hop()
  }

  private func fail(_ kind: HTTPError.Kind, _ cause: String = "") {
    leave()
    complete(.failure(HTTPError(kind, host: request.url.hostAndPort, cause: cause)))
  }

  private func complete(_ completion: Subscribers.Completion<HTTPError>) {
    let subscription = subscription.take()
    flight = nil
    steps.cancel()
    subscription?.end(completion)
  }
}
