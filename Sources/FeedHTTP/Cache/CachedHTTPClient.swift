public import FeedStream
public import Foundation

extension HTTPClient {
  /// A private HTTP cache: serves responses from a store, and stores responses, as HTTP's rules allow.
  ///
  ///     let client = CurlHTTPClient(on: loop).cached(in: MemoryHTTPCache())
  ///
  /// It follows RFC 9111 as a cache for one user (`private` is stored, `s-maxage` is ignored), and RFC 5861.
  ///
  /// - **Fresh** responses are used without a request, with their `Age`. Without explicit freshness, a response is
  ///   fresh for a tenth of the time between its last change and its `Date`.
  /// - **Other** responses are validated with `If-None-Match` and `If-Modified-Since`; a 304 renews the stored
  ///   response.
  /// - **`stale-while-revalidate`**: the stale response is delivered, and the client sends a separate request to renew
  ///   it. That request keeps the client alive until it completes.
  /// - **Errors**: with `stale-if-error`, a stale response replaces 500, 502, 503, 504 and network failures; without
  ///   it, a stale response replaces only network failures. `no-cache` and `must-revalidate` forbid both: when no
  ///   network is available, a request for such a response gets status 504 (RFC 9111, section 5.2.2.2).
  /// - **Requests** with `no-store` bypass the cache, so their bodies can be streamed. A request for a single part of a
  ///   body (`Range`, `If-Range`) is served from a fresh response that is stored whole. Other requests for parts bypass
  ///   the cache, and parts are never stored. Requests with their own conditions are evaluated against a fresh response
  ///   if there is one, and are otherwise passed on; their whole responses are stored. `only-if-cached` without a
  ///   usable response gets status 504 without a request.
  /// - **Methods other than GET**, and requests with a body, bypass the cache. If a request that may change something
  ///   succeeds, the responses stored for its URL are removed, and so are those for any URLs of the same origin that
  ///   its response refers to (section 4.4).
  /// - **Equal requests in flight** wait for the response to the first one, and use it if the rules allow that. If the
  ///   first request times out while others have at least a second left, or a tenth of their limit if that is less,
  ///   each of them is sent separately.
  /// - **Redirects** are followed by the cache: each hop is stored separately, without its body.
  ///
  /// A stored response is delivered without `Set-Cookie`: its cookies are set once, when it arrives. To use a cookie
  /// jar, too, write `client.cached(in: store).withCookies(in: jar)`, so that the cache knows the request's cookies.
  ///
  /// This is not a `FeedCache`, which keeps feeds for display, regardless of HTTP's rules.
  ///
  /// - Parameters:
  ///   - store: keeps the responses. Clients on the same loop may share it. If the store fails, the failure is
  ///     reported, and the request goes to the server.
  ///   - now: the wall clock.
  public func cached(
    in store: any HTTPCacheStore, _ options: HTTPCacheOptions = HTTPCacheOptions(),
    now: @escaping () -> Date = { Date() }
  ) -> CachedHTTPClient {
    CachedHTTPClient(self, store: store, options, now: now)
  }
}

/// A client with a private HTTP cache: see ``HTTPClient/cached(in:_:now:)``.
public final class CachedHTTPClient: HTTPClient {
  let upstream: any HTTPClient
  let store: any HTTPCacheStore
  let options: HTTPCacheOptions
  let now: () -> Date
  /// The flights that other requests may wait for.
  @exclusivity(unchecked) var flights: [String: CacheFlight] = [:]
  /// All flights.
  @exclusivity(unchecked) var running: [ObjectIdentifier: CacheFlight] = [:]

  public var scheduler: (any LoopScheduler)? { upstream.scheduler }

  init(
    _ upstream: any HTTPClient, store: any HTTPCacheStore, _ options: HTTPCacheOptions, now: @escaping () -> Date
  ) {
    self.upstream = upstream
    self.store = store
    self.options = options
    self.now = now
  }

  /// Gets the resource at a URL, from the cache or through it.
  ///
  /// **Demand:** as without a cache. **Completion:** follows once the response is stored. **Failure:** as without a
  /// cache. **Cancellation:** the request continues if other subscribers are waiting for it.
  public func get(_ request: HTTPRequest) -> AnyPublisher<HTTPResponse, HTTPError> {
    guard request.method == .get, request.body == nil else { return pass(request, upstream.get(request)) }
    return AnyPublisher(Pulled("HTTP") { CacheExchange(self, request) })
  }

  /// Gets the resource at a URL. The body is delivered as it arrives if the request bypasses the cache (`no-store`, or
  /// a method other than GET, or a body), and otherwise when it is complete.
  public func open(_ request: HTTPRequest) -> AnyPublisher<StreamingResponse, HTTPError> {
    guard request.method == .get, request.body == nil else { return pass(request, upstream.open(request)) }
    let demands = CacheRequest(request)
    guard demands.mayNotStore, !demands.isOnlyIfCached else {
      return get(request).map(StreamingResponse.init).eraseToAnyPublisher()
    }
    return upstream.open(request)
      .handleEvents(receiveSubscription: { [self] _ in report(.bypassed, request) })
      .eraseToAnyPublisher()
  }

  /// Delivers the response to a request that isn't cached, and removes stored responses that the request may have
  /// changed.
  private func pass<Response: RedirectingResponse>(
    _ request: HTTPRequest, _ responses: AnyPublisher<Response, HTTPError>
  ) -> AnyPublisher<Response, HTTPError> {
    guard !request.method.isSafe else { return responses }
    return
      responses
      .flatMap { [self] response -> AnyPublisher<Response, HTTPError> in
        let answer = Just(response).setFailureType(to: HTTPError.self)
        guard 200..<400 ~= response.status else { return answer.eraseToAnyPublisher() }
        let named = ["Location", "Content-Location"].compactMap { response.headers[$0] }
          .compactMap { URL(string: $0, relativeTo: response.url)?.absoluteURL }
          .filter { $0.hasSameOrigin(as: response.url) }
        let keys = ([request.url, response.url] + named).map(\.normalized)
        for flight in running.values where keys.contains(flight.key) { flight.becomeOutdated() }
        let removals = keys.map { key in
          store.change(key, where: { _ in true }, to: .remove)
            .catch { [self] error in
              report(.storeFailed(error), request)
              return Empty<Never, Never>()
            }
        }
        return removals.publisher.flatMap(maxPublishers: .max(1)) { $0 }
          .setOutputType(to: Response.self).setFailureType(to: HTTPError.self)
          .append(answer).eraseToAnyPublisher()
      }
      .eraseToAnyPublisher()
  }

  /// The time on the client's scheduler, because the wall clock may be set meanwhile; without a scheduler, the wall
  /// clock's time.
  var instant: StreamInstant {
    if let scheduler { return scheduler.now }
    let seconds = now().timeIntervalSince1970
    return StreamInstant(nanoseconds: Int64(min(max(seconds, 0), 9e9) * 1e9))
  }

  func report(_ kind: HTTPCacheEvent.Kind, _ request: HTTPRequest) {
    options.report(HTTPCacheEvent(kind: kind, url: request.url))
  }

  /// Renews a stored response in the background, unless a renewal is already running.
  func revalidate(_ request: CacheRequest, _ stored: HTTPStoredResponse) {
    guard flights[request.sharingKey] == nil else { return }
    let flight = CacheFlight(self, request, stored: stored, isShared: true, isInBackground: true)
    flight.start()
  }
}

/// Subscribes to one publisher after another; only the latest subscription counts.
final class CacheSteps {
  private var number = 0
  private var current: AnyCancellable?

  /// Subscribes; `then` receives the last value, or `nil` when there is none, but is never called after ``cancel()``.
  ///
  /// A publisher may complete before `sink` returns, and `then` may already take the next step.
  func take<Output, Failure: Error>(
    _ publisher: AnyPublisher<Output, Failure>, then: @escaping (Result<Output?, Failure>) -> Void
  ) {
    number += 1
    let mine = number
    var value: Output?
    let subscription = publisher.sink { [self] completion in
      guard mine == number else { return }
      number += 1
      switch completion {
      case .finished: then(.success(value))
      case .failure(let error): then(.failure(error))
      }
    } receiveValue: {
      value = $0
    }
    if mine == number { current = subscription }
  }

  func cancel() {
    number += 1
    current = nil
  }
}
