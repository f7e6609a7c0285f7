import FeedStream
import Foundation

/// One request to the server, for all subscribers that wait for its response, and the resulting changes in the store.
///
/// A running flight and its client retain each other.
final class CacheFlight {
  /// The result of the request.
  struct Outcome {
    var result: Result<HTTPResponse, HTTPError>
    /// The response that is now stored, or the one that was stored before.
    var stored: HTTPStoredResponse?
    /// True if a stale response, or status 504, replaces an error, for all subscribers.
    var isStandIn = false
    /// True if that is status 504.
    var isGatewayTimeout = false

    /// True if the response may also be used for a request that arrived later (RFC 9111, section 4).
    func mayBeShared(by request: CacheRequest, at now: Date) -> Bool {
      guard case .success = result, let stored, request.selection(stored.head) else { return false }
      return isStandIn || request.use(of: stored.head, at: now) == .fresh
    }
  }

  private let client: CachedHTTPClient
  private let request: CacheRequest
  private let stored: HTTPStoredResponse?
  private let isShared: Bool
  private let isInBackground: Bool
  /// False if the store has just failed, so that nothing waits for it again.
  private let hasStore: Bool
  private let steps = CacheSteps()
  @exclusivity(unchecked)  // Used on one thread, and no access lasts across a call that may re-enter.
  private var waiting: [CacheExchange] = []
  // The exchange that started this flight gets the response, whatever it is.
  private weak var first: CacheExchange?
  private var requested: Date
  /// The time at which the request's timeout has passed.
  private let due: StreamInstant
  /// True until the response arrives.
  private(set) var isPending = true
  private var isOutdated = false

  init(
    _ client: CachedHTTPClient, _ request: CacheRequest, stored: HTTPStoredResponse?, isShared: Bool,
    isInBackground: Bool, hasStore: Bool = true
  ) {
    self.hasStore = hasStore
    self.client = client
    self.request = request
    self.stored = stored
    self.isShared = isShared
    self.isInBackground = isInBackground
    requested = client.now()
    due = client.instant.advanced(by: request.request.timeout)
  }

  func join(_ exchange: CacheExchange) {
    if waiting.isEmpty, !isInBackground { first = exchange }
    waiting.append(exchange)
  }

  /// Removes a subscriber. When the last subscriber leaves, the request is cancelled, unless it renews a stored
  /// response in the background.
  func leave(_ exchange: CacheExchange) {
    waiting.removeAll { $0 === exchange }
    if waiting.isEmpty, isPending, !isInBackground { end() }
  }

  func start() {
    client.running[ObjectIdentifier(self)] = self
    if isShared { client.flights[request.sharingKey] = self }
    ask(validating: stored)
  }

  /// The time limit of the request, which may be the rest of a longer one.
  var timeout: StreamInstant.Stride { request.request.timeout }

  /// True if that time has passed. A request may also time out earlier, while it connects.
  var isOutOfTime: Bool { due <= client.instant }

  /// The key of the stored responses that this flight changes.
  var key: String { request.key }

  /// Called when another request has changed the resource: the response may be older than the change, so it is only
  /// delivered to the subscribers that are waiting for it.
  func becomeOutdated() {
    isOutdated = true
    land()
  }

  /// Lets no other subscriber join.
  private func land() {
    if client.flights[request.sharingKey] === self { client.flights[request.sharingKey] = nil }
  }

  private func end() {
    isPending = false
    steps.cancel()
    land()
    client.running[ObjectIdentifier(self)] = nil
  }

  // MARK: Requesting

  private func ask(validating stored: HTTPStoredResponse?) {
    var conditional = stored.flatMap { request.validating($0.head) }
    client.report(conditional == nil ? .missed : .validating, request.request)
    let isConditional = conditional != nil
    if conditional == nil { conditional = request.request }
    conditional!.leaveRedirectsToCaller()
    requested = client.now()
    // The step retains this flight until the request completes.
    steps.take(client.upstream.get(conditional!)) { [self] result in
      switch result {
      case .success(let response?): receive(response, to: isConditional ? stored : nil)
      case .success(nil): fail(HTTPError(.receive, host: request.request.url.hostAndPort, cause: "no response arrived"))
      case .failure(let error): fail(error)
      }
    }
  }

  /// - Parameter compared: the stored response whose validators were sent.
  private func receive(_ response: HTTPResponse, to compared: HTTPStoredResponse?) {
    let received = client.now()
    if response.status == 304, let compared {
      guard
        var head = request.head(
          of: compared.head, renewedBy: response.headers, requested: requested, received: received)
      else { return ask(validating: nil) }
      // The response may have been stored before its server moved to a private network.
      if response.isPrivate == true { head.selectors[CacheRequest.privateNetwork] = .some("own") }
      client.report(.validated, request.request)
      return renew(compared, to: head)
    }
    if [500, 502, 503, 504].contains(response.status), useStored(at: received, false, "status \(response.status)") {
      return
    }
    guard
      let head = request.head(
        of: response.status, response.headers, from: response.url, isPrivate: response.isPrivate == true,
        requested: requested,
        received: received)
    else {
      if !request.isBypassing { client.report(.notStored, request.request) }
      // The new response supersedes the stored one but may not be stored. After a server error, keep the stored one.
      let isReplaced = stored != nil && response.status < 500 && response.status != 304
      return deliver(Outcome(result: .success(response)), isReplaced ? .remove : nil)
    }
    if hasStore, !isOutdated { client.report(.stored, request.request) }
    let stored = HTTPStoredResponse(head: head, body: response.body)
    deliver(Outcome(result: .success(response), stored: stored), .save(stored))
  }

  private func renew(_ compared: HTTPStoredResponse, to head: HTTPStoredResponse.Head) {
    let renewed = HTTPStoredResponse(head: head, body: compared.body)
    // The renewed header may forbid uses that the old one allowed.
    let mayBeKept =
      request.head(
        of: head.status, head.headers, from: head.url, requested: head.requested, received: head.received) != nil
    let outcome = Outcome(result: .success(renewed.validated), stored: mayBeKept ? renewed : nil)
    // The request may select other stored responses, too, and another process may have replaced this one.
    let (received, headers) = (compared.head.received, compared.head.headers)
    deliver(outcome, mayBeKept ? .freshen(head) : .remove) { $0.received == received && $0.headers == headers }
  }

  private func fail(_ error: HTTPError) {
    guard error.isFailureOfNetwork else { return deliver(Outcome(result: .failure(error)), nil) }
    let now = client.now()
    if useStored(at: now, true, "\(error)") { return }
    if let stored, !CacheFreshness(stored.head).mayBeStale {
      // The stored response must not be used while it is stale, so respond with status 504 (RFC 9111, section 5.2.2.2).
      client.report(.unusable("\(error)"), request.request)
      let response = HTTPResponse.gatewayTimeout(from: request.request.url, at: now)
      return deliver(
        Outcome(result: .success(response), stored: stored, isStandIn: true, isGatewayTimeout: true), nil)
    }
    deliver(Outcome(result: .failure(error), stored: stored), nil)
  }

  private func useStored(at now: Date, _ isDisconnected: Bool, _ cause: String) -> Bool {
    guard let stored,
      request.mayUseAfterFailure(
        stored.head, at: now, isDisconnected: isDisconnected && client.options.usesStaleWhenDisconnected)
    else { return false }
    client.report(.staleAfterFailure(cause), request.request)
    deliver(Outcome(result: .success(stored.unvalidated(at: now)), stored: stored, isStandIn: true), nil)
    return true
  }

  // MARK: Responding

  /// - Parameter isMeant: chooses the responses to change among those that the request selects.
  private func deliver(
    _ outcome: Outcome, _ change: HTTPCacheChange?,
    where isMeant: @escaping @Sendable (HTTPStoredResponse.Head) -> Bool = { _ in true }
  ) {
    isPending = false
    if let change, hasStore, !isOutdated {
      let selection = request.selection
      let chosen: @Sendable (HTTPStoredResponse.Head) -> Bool = { selection($0) && isMeant($0) }
      steps.take(client.store.change(request.key, where: chosen, to: change)) { [self] result in
        if case .failure(let error) = result { client.report(.storeFailed(error), request.request) }
        isStored = true
        finish()
      }
    } else {
      isStored = true
    }
    let first = first
    for exchange in waiting { exchange.receive(outcome, isFirst: exchange === first) }
    isDelivered = true
    finish()
  }

  private var isStored = false
  private var isDelivered = false

  private func finish() {
    guard isStored, isDelivered else { return }
    let waiting = waiting
    self.waiting = []
    end()
    for exchange in waiting { exchange.receiveEnd(of: self) }
  }
}

extension HTTPError {
  /// True if no whole response arrived because the network failed or the server is down.
  fileprivate var isFailureOfNetwork: Bool {
    switch kind {
    case .nameResolution, .connect, .send, .receive, .truncated, .timedOut: true
    default: false
    }
  }
}
