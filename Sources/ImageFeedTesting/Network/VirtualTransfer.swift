import FeedStream
import FeedStreamTesting
import Foundation
import ImageFeed

/// One request, which is sent when its response is requested. The response is delivered when it is complete.
final class VirtualGet: RequestedWork {
  private let transfer: VirtualTransfer

  init(_ network: VirtualNetwork, _ request: HTTPRequest) { transfer = VirtualTransfer(network, request) }

  func start(_ settle: @escaping (Result<HTTPResponse, HTTPError>) -> Void) { transfer.send(settle) }

  func cancel() { transfer.cancel() }
}

/// One request in progress, and the redirects that it follows.
final class VirtualTransfer {
  let network: VirtualNetwork
  /// The request of the current hop.
  private(set) var request: HTTPRequest
  /// The host of ``request``; see `comparableHost`.
  private(set) var host: String
  /// The redirects that were followed.
  private(set) var redirects: [HTTPRedirect] = []
  /// True when the body is delivered while it arrives.
  let isStreaming: Bool
  /// The pace at which the body arrives.
  var pace = VirtualReply.Pace()
  /// The time at which the head of the current hop's response arrives; `nil` if none has been sent.
  var headAt: StreamInstant?

  /// The request's body, when it has arrived.
  private(set) var sentBody = Chunk()
  private var sending: AnyCancellable?
  /// True until the origin has the body of the current hop's request.
  private var isSending = false
  private var settle: ((Result<HTTPResponse, HTTPError>) -> Void)?
  private var number: Int?
  /// The completion of the current hop, unless its connection is cut first.
  private var plan: (ending: VirtualExchange.Ending, due: StreamInstant)?
  /// The time at which an outage cuts the connection.
  private var cutAt: StreamInstant?
  private var deadline = StreamInstant(nanoseconds: .max)
  /// The body that is arriving, after the head.
  private weak var body: VirtualBody?
  private var alarm: (work: any Cancellable, time: StreamInstant)?

  /// The maximum number of redirects to follow, as in the real client.
  private static let maxRedirects = CurlHTTPClient.Configuration().maxRedirects

  init(_ network: VirtualNetwork, _ request: HTTPRequest, isStreaming: Bool = false) {
    self.network = network
    self.request = request
    self.isStreaming = isStreaming
    host = Self.host(of: request)
  }

  private static func host(of request: HTTPRequest) -> String { (request.url.host() ?? "").comparableHost }

  /// - Parameter settle: receives the response, whose body may still be arriving.
  func send(_ settle: @escaping (Result<HTTPResponse, HTTPError>) -> Void) {
    self.settle = settle
    var address = request.url.absoluteString
    address.makeContiguousUTF8()
    if let problem = request.problem(at: address) { return fail(.invalidRequest, problem) }
    deadline = network.time.now.advanced(by: request.timeout)
    network.send(self)
  }

  private func fail(_ kind: HTTPError.Kind, _ cause: String = "") {
    var error = error(kind)
    error.cause = cause
    settle.take()?(.failure(error))
  }

  /// Called when the request is sent, with its number.
  func begin(_ number: Int) { self.number = number }

  /// Sends the body to the origin, which responds when it has the whole body.
  func upload() {
    guard let body = request.body else { return network.respond(to: self) }
    if let bytes = body.wholeBytes {
      sentBody = bytes
      return network.respond(to: self)
    }
    isSending = true
    end(with: .failed(error(.timedOut(.response))), after: request.timeout)
    network.cut(self)
    let lookup = body.measure(on: network.time) { [self] in
      guard number != nil else { return }
      switch $0 {
      case .success(let length): receive(body, announcing: length)
      case .failure(let failure): refuse(failure)
      }
    }
    if let lookup, number != nil { sending = AnyCancellable(lookup) }
  }

  /// Receives the body at the origin.
  private func receive(_ body: HTTPBody, announcing length: Int?) {
    var chunks: [Chunk] = []
    var delivered = 0
    sending = body.open(on: network.time).sink { [self] completion in
      guard number != nil else { return }
      if case .failure(let failure) = completion { return refuse(failure) }
      if let length, delivered < length {
        return refuse(HTTPBody.Problem.length(announced: length, delivered: delivered))
      }
      sentBody = Chunk(joining: chunks)
      isSending = false
      network.respond(to: self)
    } receiveValue: { [self] chunk in
      guard number != nil else { return }
      delivered += chunk.count
      chunks.append(chunk)
      if let length, delivered > length {
        refuse(HTTPBody.Problem.length(announced: length, delivered: delivered))
      }
    }
    if number == nil { sending = nil }
  }

  /// Fails the request, because its body can't be sent.
  private func refuse(_ failure: any Error) {
    var error = error(.body)
    error.cause = "\(failure)"
    stop(.failed(error))
    settle.take()?(.failure(error))
  }

  /// Schedules this completion of the request, or its timeout if that comes first.
  func end(with ending: VirtualExchange.Ending, after latency: StreamInstant.Stride) {
    let due = network.time.now.advanced(by: latency)
    let phase = headAt.map { $0 < deadline } == true ? HTTPError.Phase.receive : .response
    plan = due < deadline ? (ending, due) : (.failed(error(.timedOut(phase))), deadline)
    wait()
  }

  /// Cuts the connection at `instant`, unless the request completes first.
  func cut(at instant: StreamInstant) {
    guard number != nil else { return }
    cutAt = min(instant, cutAt ?? instant)
    wait()
  }

  /// Undoes a cut that hasn't happened.
  func undoCut() {
    guard let cutAt, cutAt > network.time.now else { return }
    self.cutAt = nil
    wait()
  }

  func cancel() {
    settle = nil
    stop(.cancelled)
  }

  func error(_ kind: HTTPError.Kind) -> HTTPError { HTTPError(kind, host: request.url.hostAndPort, cause: "") }

  private func wait() {
    guard let plan else { return }
    let next = min(plan.due, cutAt ?? plan.due)
    guard alarm?.time != next else { return }
    alarm?.work.cancel()
    let work = network.time.alarm(at: next, OriginNote(named: "the request to \(host)")) { [self] in
      alarm = nil
      finish()
    }
    alarm = (work, next)
  }

  private func finish() {
    guard let number, let plan else { return }
    let isCut = cutAt.map { $0 < plan.due } ?? false
    let ending = isCut ? .failed(error(isSending ? .send : .receive)) : plan.ending
    if case .answered(let response) = ending {
      // The bytes beyond the window arrive when the reader makes room.
      if let body, !body.isComplete { return awaitDeadline() }
      guard !follow(response) else { return }
      if streams(response.body), let settle = settle.take() { return settle(.success(response)) }
    }
    (self.number, sending) = (nil, nil)
    let settle = settle.take()
    // The body delivers these bytes before its failure.
    if case .failed = ending, let body { network.note(number, bytes: body.arrived) }
    network.end(number, ending)
    switch ending {
    case .answered(let response): settle?(.success(response))
    case .failed(let error): if let settle { settle(.failure(error)) } else { body?.fail(error) }
    case .cancelled: break
    }
  }

  /// True if a response to the current hop is a redirect to follow or to refuse: it isn't delivered.
  func isRedirect(_ status: Int, _ headers: HTTPHeaders) -> Bool {
    let response = HTTPResponse(status: status, headers: headers, body: Data(), url: request.url)
    do throws(HTTPRedirect.Refusal) { return try next(after: response) != nil } catch { return true }
  }

  /// The redirect in a response to the current hop, and the next hop; `nil` if the response is delivered.
  private func next(
    after response: HTTPResponse
  ) throws(HTTPRedirect.Refusal) -> (redirect: HTTPRedirect, request: HTTPRequest)? {
    try request.redirected(by: response, after: redirects.count, atMost: Self.maxRedirects)
  }

  /// Follows `response` if it is a redirect, as the real client does.
  ///
  /// - Returns: true when the response is still to come, or has been delivered as a failure.
  private func follow(_ response: HTTPResponse) -> Bool {
    let next: (redirect: HTTPRedirect, request: HTTPRequest)?
    do throws(HTTPRedirect.Refusal) {
      next = try self.next(after: response)
    } catch {
      stop(.answered(response))
      fail(error.kind, error.cause)
      return true
    }
    guard let next else { return false }
    stop(.answered(response))
    // The network's observer may have cancelled the request.
    guard settle != nil else { return true }
    redirects.append(next.redirect)
    request = next.request
    host = Self.host(of: request)
    (sentBody, plan, cutAt, headAt) = (Chunk(), nil, nil, nil)
    network.send(self)
    return true
  }
}

// MARK: - A body that arrives

extension VirtualTransfer {
  /// True when `body` arrives after the head.
  func streams(_ body: Data) -> Bool {
    isStreaming && (body.count > VirtualBody.window || pace.interval > 0 && body.count > pace.bytes)
  }

  /// Called when the head of `response` has arrived, and `body` follows, whose last byte arrives at `arrival`.
  func open(_ body: VirtualBody, of response: HTTPResponse, until arrival: StreamInstant) {
    guard number != nil else { return }
    self.body = body
    guard arrival < deadline else { return awaitDeadline() }
    plan = (.answered(response), arrival)
    wait()
  }

  private func awaitDeadline() {
    plan = (.failed(error(.timedOut(.receive))), deadline)
    wait()
  }

  /// Records that `bytes` bytes of the body were read.
  func read(_ bytes: Int) { if let number { network.note(number, bytes: bytes) } }

  /// Completes the request, unless it has completed.
  func stop(_ ending: VirtualExchange.Ending) {
    alarm.take()?.work.cancel()
    sending = nil
    guard let number = number.take() else { return }
    network.end(number, ending)
  }
}
