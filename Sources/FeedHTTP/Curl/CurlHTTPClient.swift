internal import CCurl
import FeedStream
import Foundation

/// An HTTP client that uses libcurl's multi interface on an event loop, without a thread per request and without calls
/// that block the loop.
///
/// - HTTP/1.1, and HTTP/2 where the server offers it over TLS. Connections are reused, but a connection carries one
///   request at a time, so that a body without demand isn't read for the sake of another request.
/// - Certificates are always verified.
/// - gzip, deflate, brotli and zstd are decoded; the limit on a body counts decoded bytes.
/// - Redirects are followed to http and https only, and never from https to http; fields that may contain a secret are
///   not sent to a different origin (``HTTPRedirect``).
/// - A URL from a redirect or a document is refused when it leads to a private network, unless that redirect or
///   document came from one (``HTTPRequest/origin``). The address is checked after the lookup, when connecting. If a
///   proxy makes the connection, no address is checked.
/// - Proxies come from the environment (``HTTPProxy/environment``), unless the client or the request sets a different
///   one.
/// - A request that cannot be repeated (``HTTPRequest/canBeRepeated``) is sent once, even if a reused connection turns
///   out to be closed.
///
/// Requests beyond ``Configuration/maxConnections`` or ``Configuration/maxConnectionsPerHost`` wait their turn, while
/// their ``HTTPRequest/timeout`` runs. So do requests for which the process has no file descriptors or threads left.
///
/// A request that runs or waits keeps the loop running; idle connections do not. The client belongs to its loop's
/// thread. Releasing the client closes it once no request is left.
public final class CurlHTTPClient: HTTPClient {
  private let multi: CurlMulti
  private let networkGuard: NetworkGuard
  private let configuration: Configuration
  private let environment = ProxyVariables()
  let loop: EventLoop
  public var scheduler: (any LoopScheduler)? { loop }
  let deadlines: Deadlines
  @exclusivity(unchecked)  // As below: used on one thread, and no access lasts across a call that may re-enter.
  private var admission: Admission<HTTPExchange>
  @exclusivity(unchecked) private var running: [CurlTransfer] = []
  @exclusivity(unchecked) private var spare: [CurlTransfer] = []
  /// The requests with bytes that arrived during the call to libcurl.
  @exclusivity(unchecked) var arrivals: [StreamingExchange] = []
  /// The bodies from which libcurl has taken all bytes.
  @exclusivity(unchecked) var uploads: [BodyUpload] = []
  private var retry: LoopTimer?
  private var isClosed = false

  /// Creates a client on `loop`; call this on the loop's thread.
  public init(on loop: EventLoop, _ configuration: Configuration = Configuration()) {
    precondition(
      configuration.maxConnections > 0 && configuration.maxConnectionsPerHost > 0,
      "CurlHTTPClient: maxConnections and maxConnectionsPerHost must be at least 1")
    self.loop = loop
    deadlines = Deadlines(on: loop)
    self.configuration = configuration
    networkGuard = NetworkGuard(configuration)
    let most = min(configuration.maxConnections, Self.descriptorsToUse)
    multi = CurlMulti(
      on: loop, maxConnections: most, maxConnectionsPerHost: configuration.maxConnectionsPerHost)
    admission = Admission(limit: most, limitPerHost: configuration.maxConnectionsPerHost)
    multi.onDone = { [unowned self] in isDone($0, $1) }
    multi.onActed = { [unowned self] in deliverArrivals() }
  }

  deinit { close() }

  /// Half of the remaining descriptors, because the cache, its files and name lookups need some, too.
  private static var descriptorsToUse: Int {
    var limit = rlimit()
    guard getrlimit(.init(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return .max }
    let open = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd"))?.count ?? 0
    return max(1, (Int(clamping: limit.rlim_cur) - open) / 2)
  }

  public func get(_ request: HTTPRequest) -> AnyPublisher<HTTPResponse, HTTPError> {
    AnyPublisher(WorkOnRequest("HTTP") { WholeExchange(self, request) })
  }

  public func open(_ request: HTTPRequest) -> AnyPublisher<StreamingResponse, HTTPError> {
    AnyPublisher(WorkOnRequest("HTTP") { StreamingExchange(self, request) })
  }

  /// Sends a request, and reports its progress up to ten times per second, when the progress has changed.
  public func events(for request: HTTPRequest) -> AnyPublisher<HTTPProgress, HTTPError> {
    AnyPublisher(Pulled("HTTP") { ProgressWatch(self, request) })
  }

  /// The progress of the running requests; requests that are waiting their turn are not included.
  public var progress: [HTTPProgress] { running.compactMap { $0.exchange?.progress } }

  /// The number of open connections, idle ones included.
  var openConnections: Int { multi.sockets.count }

  /// Closes all connections. Running, waiting and later requests fail. Idempotent.
  public func close() {
    guard !isClosed else { return }
    isClosed = true
    retry = nil
    for exchange in admission.removeAll() + running.compactMap(\.exchange) { exchange.fail(.closed) }
    spare = []
    multi.close()
    // They retain this client, and nothing reads them anymore.
    (arrivals, uploads) = ([], [])
  }
}

// MARK: - The life of a request

extension CurlHTTPClient {
  /// Runs `exchange`, or makes it wait.
  func start(_ exchange: HTTPExchange) {
    guard !isClosed else { return exchange.fail(.closed) }
    guard retry == nil, admission.admit(exchange.host) else {
      exchange.state = .waiting
      return admission.wait(exchange, for: exchange.host)
    }
    run(exchange)
  }

  /// Forgets a waiting `exchange` that has ended, and the body of its request.
  func leave(_ exchange: HTTPExchange) {
    let removed = admission.leave(exchange.host) { if case .waiting = $0.state { true } else { false } }
    withExtendedLifetime(removed) {}
  }

  /// Stops the running `exchange`; if its connection uses HTTP/1.1, the connection is closed when this returns.
  func stop(_ exchange: HTTPExchange, _ transfer: CurlTransfer) {
    multi.remove(transfer)
    recycle(transfer)
    release(exchange.host)
  }

  /// Continues reading from the connection of a paused transfer, or sending its body.
  func resume(_ transfer: CurlTransfer) { multi.resume(transfer, paused: transfer.paused) }

  /// Follows a redirect whose body has not arrived in time.
  func endRedirect(_ transfer: CurlTransfer) {
    multi.remove(transfer)
    isDone(transfer, CURLE_OK)
  }

  private func deliverArrivals() {
    if !uploads.isEmpty {
      let uploads = self.uploads
      self.uploads = []
      for upload in uploads { upload.ask() }
    }
    guard !arrivals.isEmpty else { return }
    let arrivals = self.arrivals
    self.arrivals = []
    for exchange in arrivals { exchange.deliverArrived() }
  }

  private func run(_ exchange: HTTPExchange) {
    guard
      let transfer = spare.popLast()
        ?? CurlTransfer(configuration, environment, sockets: multi.sockets, networkGuard)
    else {
      release(exchange.host)
      return exchange.fail(.resources, "out of memory")
    }
    transfer.prepare(for: exchange)
    transfer.exchange = exchange
    transfer.index = running.count
    running.append(transfer)
    exchange.state = .running(transfer)
    if !multi.add(transfer) {
      exchange.state = .ended
      recycle(transfer)
      release(exchange.host)
      exchange.fail(.resources, "out of memory")
    }
  }

  private func isDone(_ transfer: CurlTransfer, _ code: CURLcode) {
    guard let exchange = transfer.exchange else { return }
    if code != CURLE_OK, let address = transfer.refused { return judge(exchange, transfer, refused: address) }
    if code != CURLE_OK, transfer.isExhausted(exchange, code) { return comeBack(exchange, transfer) }
    let result = transfer.result(of: exchange, code)
    if case .failure = result { exchange.keepHead(of: transfer) }
    exchange.headerSize = transfer.reader.headerSize
    exchange.state = .ended
    recycle(transfer)
    // The next request is sent first, because the subscriber takes time to handle this response.
    release(exchange.host)
    if case .success(let response) = result, exchange.follow(response, atMost: configuration.maxRedirects) { return }
    exchange.deliver(result)
  }

  private func recycle(_ transfer: CurlTransfer) {
    let last = running.removeLast()
    if last !== transfer {
      running[transfer.index] = last
      last.index = transfer.index
    }
    transfer.reset()
    // libcurl remembers a refused expectation, which says nothing about other servers.
    if !transfer.reader.hasRefusedExpectation { spare.append(transfer) }
  }

  private func release(_ host: Admission<HTTPExchange>.Key) {
    admission.release(host)
    // A request has ended and released its resources: waiting requests may try again.
    retry = nil
    admitWaiting()
  }

  private func admitWaiting() {
    while !isClosed, retry == nil, let exchange = admission.next() {
      if case .waiting = exchange.state { run(exchange) } else { admission.release(exchange.host) }
    }
  }

  /// Handles a request that was refused because it leads to a private network. If its origin is in a private network,
  /// too, the request is sent again; otherwise, it fails.
  private func judge(_ exchange: HTTPExchange, _ transfer: CurlTransfer, refused address: NetworkAddress) {
    recycle(transfer)
    exchange.state = .waiting
    release(exchange.host)
    guard let origin = exchange.request.origin else { return }
    networkGuard.lookUp(exchange.request, on: loop) { [self] isPrivate in
      guard case .waiting = exchange.state else { return }
      if isPrivate {
        exchange.allowPrivateNetworks()
        return start(exchange)
      }
      exchange.fail(
        .privateNetwork, "\(address) is on a private network, but \(origin.hostAndPort), which led to it, is not")
    }
  }

  /// Postpones a request for which no file descriptor or thread was left: it is retried when another request completes
  /// or 100 milliseconds have passed.
  private func comeBack(_ exchange: HTTPExchange, _ transfer: CurlTransfer) {
    recycle(transfer)
    exchange.state = .waiting
    exchange.isStarved = true
    admission.release(exchange.host)
    admission.wait(exchange, for: exchange.host, cameBack: true)
    let timer = LoopTimer(on: loop) { [unowned self] in
      retry = nil
      admitWaiting()
    }
    timer.start(after: .milliseconds(100))
    retry = timer
  }
}
