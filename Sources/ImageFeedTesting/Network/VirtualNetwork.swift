public import FeedStream
public import FeedStreamTesting
import Foundation
public import ImageFeed

/// The network of a virtual world: an `HTTPClient` whose origins are scripts that run in virtual time.
///
///     let time = VirtualTimeScheduler()
///     let network = VirtualNetwork(on: time, seed: 7)
///     network.serve("example.com") { _, random in
///       Bool.random(using: &random) ? .feed(images) : .drop(after: 0.2)
///     }
///     network.fail(Outage(time.now.advanced(by: 60)..<time.now.advanced(by: 90)))
///
/// A host without a script is not found. The seed and the earlier requests determine the random numbers of a script.
/// Use the network only on its scheduler's thread, like a stream.
///
/// Like `CurlHTTPClient`, the network follows redirects, refuses requests that HTTP doesn't allow, and counts the
/// body and all redirects towards a request's timeout. Each redirect that is followed is a separate request in the
/// ``log``. The network does not limit connections, use proxies, decompress bodies, or protect private networks
/// (`HTTPRequest.origin`).
///
/// An origin responds when it has the whole body: the network doesn't wait for consent
/// (`HTTPRequest.expectsContinue`), and delivers a response with status 417. A redirect with status 307 or 308
/// therefore always finds that the request's body has been read, and a stream that can be read only once fails the
/// request.
public final class VirtualNetwork {
  /// Every request since the log was last cleared, in the order in which they were sent, with virtual times.
  @exclusivity(unchecked) public private(set) var log: [VirtualExchange] = []
  /// Called with each request when it is sent, and again when it has completed, before its subscriber gets the result.
  /// A request whose response is a redirect completes with that response, which its subscriber doesn't get.
  public var observer: (VirtualExchange) -> Void = { _ in }
  /// The time after which a request fails if its host can't be reached; 20 milliseconds by default.
  public var failureLatency: StreamInstant.Stride = .milliseconds(20)
  /// The number of requests that were made.
  public private(set) var requests = 0

  let time: VirtualTimeScheduler
  private var random: SeededGenerator
  /// Makes the seeds for scripts that run while another script runs.
  private var seeds: SeededGenerator
  private var origins: [String: (script: VirtualOrigin, requests: Int)] = [:]
  private var outages: [Outage] = []
  @exclusivity(unchecked) private var transfers: [Int: VirtualTransfer] = [:]
  @exclusivity(unchecked) private var firstInLog = 0

  /// - Parameters:
  ///   - time: the scheduler of all events.
  ///   - seed: determines the random numbers of the scripts.
  public init(on time: VirtualTimeScheduler, seed: UInt64 = 0) {
    self.time = time
    random = SeededGenerator(seed: seed)
    seeds = random
  }

  /// The requests that have not completed.
  public var open: [VirtualExchange] { transfers.keys.sorted().map { log[$0 - firstInLog] } }

  /// Removes completed requests from the log, for tests that run for years of virtual time.
  public func clearLog() {
    let kept = transfers.keys.min() ?? requests
    log.removeFirst(kept - firstInLog)
    firstInLog = kept
  }

  // MARK: Origins and outages

  /// Makes `script` respond to every request to `host` from now on, with any scheme and port. The case of the host's
  /// letters doesn't matter.
  ///
  /// - Precondition: `host` has no scheme, port or path.
  public func serve(_ host: String, _ script: @escaping VirtualOrigin) {
    let host = Self.checked(host)
    origins[host] = (script, origins[host]?.requests ?? 0)
  }

  /// Makes a host, or every host, unreachable during an outage. Open requests to it are cut off when the outage begins,
  /// or immediately if it has already begun.
  ///
  /// - Precondition: the outage's host has no scheme, port or path.
  public func fail(_ outage: Outage) {
    _ = outage.host.map(Self.checked)
    outages.removeAll { $0.times.upperBound <= time.now }
    guard outage.times.upperBound > time.now, !outage.times.isEmpty else { return }
    outages.append(outage)
    for (_, transfer) in transfers.sorted(by: { $0.key < $1.key }) where outage.concerns(transfer.host) {
      transfer.cut(at: max(outage.times.lowerBound, time.now))
    }
  }

  /// The host as hosts are compared. Traps if it could never match one.
  private static func checked(_ text: String) -> String {
    let host = text.comparableHost
    precondition(
      !host.contains(where: "/[]".contains) && host.count(where: { $0 == ":" }) != 1,
      "VirtualNetwork: \(text) isn't a host; leave out the scheme, the port and the path, which don't matter")
    return host
  }

  /// Makes every host unreachable, from now until ``reconnect()``.
  public func disconnect(failure: HTTPError.Kind = .connect) {
    fail(Outage(time.now..<StreamInstant(nanoseconds: .max), failure: failure))
  }

  /// Ends every outage, current and future. Open requests that a future outage would have cut off continue.
  public func reconnect() {
    outages = []
    for (_, transfer) in transfers.sorted(by: { $0.key < $1.key }) { transfer.undoCut() }
  }

  // MARK: Requests

  /// Sends the request of a transfer's current hop.
  func send(_ transfer: VirtualTransfer) {
    let number = requests
    requests += 1
    let exchange = VirtualExchange(number: number, request: transfer.request, sent: time.now)
    log.append(exchange)
    transfers[number] = transfer
    transfer.begin(number)
    observer(exchange)
    // The observer may have cancelled the request.
    guard transfers[number] != nil else { return }
    guard let kind = refusal(of: transfer.host) else { return transfer.upload() }
    transfer.end(with: .failed(transfer.error(kind)), after: failureLatency)
    cut(transfer)
  }

  /// Decides when and how a request completes whose body has arrived.
  func respond(to transfer: VirtualTransfer) {
    let (ending, latency) = outcome(of: transfer)
    transfer.end(with: ending, after: latency)
    cut(transfer)
  }

  /// Schedules a transfer to be cut off at the beginning of a known outage.
  func cut(_ transfer: VirtualTransfer) {
    for outage in outages where outage.concerns(transfer.host) && outage.times.lowerBound > time.now {
      transfer.cut(at: outage.times.lowerBound)
    }
  }

  func note(_ number: Int, bytes: Int) { log[number - firstInLog].bytes = bytes }

  func end(_ number: Int, _ ending: VirtualExchange.Ending) {
    transfers[number] = nil
    var exchange = log[number - firstInLog]
    exchange.ended = time.now
    exchange.ending = ending
    if case .answered(let response) = ending { exchange.bytes = response.body.count }
    log[number - firstInLog] = exchange
    observer(exchange)
  }

  /// The failure of a request that is sent to `host` now; `nil` if the request reaches the origin.
  private func refusal(of host: String) -> HTTPError.Kind? {
    let outage = outages.first { $0.concerns(host) && $0.times.contains(time.now) }
    return outage?.failure ?? (origins[host] == nil ? .nameResolution : nil)
  }

  private func outcome(of transfer: VirtualTransfer) -> (VirtualExchange.Ending, after: StreamInstant.Stride) {
    let (host, request) = (transfer.host, transfer.request)
    guard let origin = origins[host] else { return (.failed(transfer.error(.nameResolution)), failureLatency) }
    let asked = VirtualRequest(
      request: request, number: origin.requests, time: time.now, body: transfer.sentBody)
    origins[host]?.requests += 1
    // The script may send requests itself, whose scripts draw other numbers each time, and it may replace itself.
    var numbers = random
    random = SeededGenerator(seed: seeds.next())
    let reply = origin.script(asked, &numbers)
    random = numbers
    transfer.pace = reply.pace
    switch reply.ending {
    case .answer(let status, let headers, let body):
      transfer.headAt = time.now.advanced(by: reply.latency)
      // The real client doesn't read the body of a redirect that it follows.
      let hasNoBody =
        request.method == .head || [204, 304].contains(status) || transfer.isRedirect(status, headers)
      let body = hasNoBody ? Data() : body
      var latency = reply.latency
      if !transfer.isStreaming {
        latency += reply.pace.interval.times(max(0, body.count - 1) / reply.pace.bytes)
      }
      guard body.count <= request.maxBodyBytes || transfer.streams(body) else {
        return (.failed(transfer.error(.tooLarge(limit: request.maxBodyBytes))), latency)
      }
      let response = HTTPResponse(
        status: status, headers: headers, body: body, url: request.url, redirects: transfer.redirects)
      return (.answered(response), latency)
    case .drop(let kind): return (.failed(transfer.error(kind)), reply.latency)
    case .silence: return (.failed(transfer.error(.timedOut(.response))), request.timeout)
    }
  }
}

extension VirtualNetwork: HTTPClient {
  public var scheduler: (any LoopScheduler)? { time }

  public func get(_ request: HTTPRequest) -> AnyPublisher<HTTPResponse, HTTPError> {
    AnyPublisher(WorkOnRequest("VirtualNetwork") { VirtualGet(self, request) })
  }

  public func open(_ request: HTTPRequest) -> AnyPublisher<StreamingResponse, HTTPError> {
    AnyPublisher(WorkOnRequest("VirtualNetwork") { VirtualOpen(self, request) })
  }
}

extension StreamInstant.Stride {
  /// `count` times this length; saturates.
  func times(_ count: Int) -> Self {
    let (product, overflow) = nanoseconds.multipliedReportingOverflow(by: Int64(count))
    return Self(nanoseconds: overflow ? .max : product)
  }
}
