import FeedStream
import Foundation
import PlainText

/// One request, sent when its response is requested. A subclass delivers the response.
class HTTPExchange {
  enum State {
    case idle, waiting
    case running(CurlTransfer)
    case ended
  }

  /// The request of the current hop.
  @exclusivity(unchecked)  // Here and below: changed a few times per request, on one thread.
  private(set) var request: HTTPRequest
  /// The URL of ``request`` in the form that libcurl accepts.
  @exclusivity(unchecked) private(set) var address: String
  /// Represents the host in the client's `Admission`.
  @exclusivity(unchecked) private(set) var host: Int
  /// The redirects that were followed.
  @exclusivity(unchecked) private(set) var redirects: [HTTPRedirect] = []
  /// The size of the redirects' headers.
  @exclusivity(unchecked) var headerSize = (lines: 0, bytes: 0)
  @exclusivity(unchecked) var state = State.idle
  /// True if the process had no file descriptor or thread left for the request.
  @exclusivity(unchecked) var isStarved = false
  /// The index of this exchange in the client's ``Deadlines``; -1 without a deadline.
  @exclusivity(unchecked) var deadlinePlace = -1
  /// The time at which the request's timeout has passed.
  @exclusivity(unchecked) private var due = StreamInstant(nanoseconds: 0)
  /// True if the deadline is that of a redirect's body.
  @exclusivity(unchecked) private var isSkippingBody = false
  /// The request's body, while it is being sent.
  @exclusivity(unchecked) private(set) var upload: BodyUpload?
  /// The lookup of the body's length.
  private var measuring: (any Cancellable)?
  let client: CurlHTTPClient

  init(_ client: CurlHTTPClient, _ request: HTTPRequest) {
    self.client = client
    self.request = request
    address = request.url.absoluteString
    address.makeContiguousUTF8()
    host = address.hostKey
  }

  deinit { client.deadlines.remove(self) }

  /// True if ``request`` is sent over https.
  final var isSecure: Bool { address.hasHTTPS }

  // MARK: For subclasses

  /// The destination of the body as it arrives; if there is none, the body is collected.
  var stream: BodyStream? { nil }
  /// Called when the head of the final response, or bytes for ``stream``, have arrived. After the head of a 401, 407 or
  /// 417, libcurl may send the request again.
  func noteArrival() {}
  /// Called when the request has failed, before `transfer` is used for another request.
  func keepHead(of transfer: CurlTransfer) {}
  /// Delivers the result of the request, which no longer runs.
  func deliver(_ result: Result<HTTPResponse, HTTPError>) {}

  // MARK: One request

  /// The body length, in bytes, above which the client waits for the server's consent before sending.
  private static let mostUnannounced = 1 << 20

  /// True if the body is sent only after the server's consent (`Expect: 100-continue`).
  final var awaitsConsent: Bool {
    guard let upload, !request.has("Expect") else { return false }
    return request.expectsContinue ?? upload.length.map { $0 > Self.mostUnannounced } ?? true
  }

  /// True if the server has given its consent, and refused it afterwards.
  final var hasConsent = false

  final func begin() {
    if let problem = request.problem(at: address) { return fail(.invalidRequest, problem) }
    due = client.loop.now.advanced(by: request.timeout)
    client.deadlines.add(self, after: request.timeout)
    send()
  }

  /// The time for which the body of a redirect is awaited, so that its connection can be reused.
  private static let redirectBodyTimeout = StreamInstant.Stride.seconds(1)

  /// Called when the header of a redirect to follow has arrived. Its body isn't used, and may never come.
  final func skipBody() {
    guard !isSkippingBody else { return }
    isSkippingBody = true
    setDeadline(after: Self.redirectBodyTimeout)
  }

  private func setDeadline(after limit: StreamInstant.Stride) {
    client.deadlines.remove(self)
    client.deadlines.add(self, after: min(limit, client.loop.now.distance(to: due)))
  }

  /// Sends the request when the length of its body is known.
  private func send() {
    upload?.cancel()
    upload = nil
    guard let body = request.body else { return client.start(self) }
    state = .waiting
    measuring = body.measure(on: client.loop) { [self] length in
      guard case .waiting = state else { return }
      switch length {
      case .success(let length):
        let upload = BodyUpload(length: length, isRead: body.hasStream) { [client] in body.open(on: client.loop)
        }
        upload.resume = { [unowned self] in if case .running(let transfer) = state { client.resume(transfer) } }
        upload.fail = { [unowned self] in fail(.body, "\($0)") }
        self.upload = upload
        client.start(self)
      case .failure(let error): fail(.body, "\(error)")
      }
    }
  }

  /// Follows `response` if it is a redirect, or refuses only to give its consent first, within the request's timeout.
  ///
  /// - Returns: true when the response is still to come, or has been delivered as a failure.
  final func follow(_ response: HTTPResponse, atMost limit: Int) -> Bool {
    if response.status == 417, awaitsConsent {
      // The server doesn't support waiting for its consent (RFC 9110, section 10.1.1).
      // Without consent, the server hasn't processed a body that was begun, so sending it again repeats nothing.
      let isUnprocessed = !hasConsent && request.body?.canBeSent ?? true
      if upload?.isBegun == false || isUnprocessed || request.canBeRepeated {
        request.expectsContinue = false
        send()
      } else {
        fail(.body, "status 417 requires sending the body again, but the request can't be repeated")
      }
      return true
    }
    let next: (redirect: HTTPRedirect, request: HTTPRequest)?
    do throws(HTTPRedirect.Refusal) {
      next = try request.redirected(by: response, after: redirects.count, atMost: limit)
    } catch {
      fail(error.kind, error.cause)
      return true
    }
    guard let next else { return false }
    redirects.append(next.redirect)
    if isSkippingBody {
      isSkippingBody = false
      setDeadline(after: request.timeout)
    }
    request = next.request
    address = request.url.absoluteString
    address.makeContiguousUTF8()
    host = address.hostKey
    send()
    return true
  }

  /// Called when the origin has turned out to be in a private network.
  final func allowPrivateNetworks() { request.originIsPrivate = true }

  /// Ends with an error that did not come from the connection.
  final func fail(_ kind: HTTPError.Kind, _ cause: String = "") {
    deliver(.failure(HTTPError(kind, host: request.url.hostAndPort, cause: cause)))
  }

  /// Called when the request's deadline has passed.
  final func timeIsOver() {
    let starving = "too many open files or threads"
    switch state {
    case .waiting where isStarved: fail(.resources, starving)
    // The deadline may pass during another attempt.
    case .running(let transfer) where isStarved && transfer.hasNoConnection: fail(.resources, starving)
    case .waiting: fail(.timedOut(.waiting), "the limit is \(request.timeout.duration.brief)")
    case .running(let transfer) where isSkippingBody && client.loop.now < due: client.endRedirect(transfer)
    case .running(let transfer): deliver(.failure(transfer.timeoutError(of: request)))
    case .idle, .ended: break
    }
  }

  /// The progress of the request; `nil` before it begins and after it completes.
  final var progress: HTTPProgress? {
    switch state {
    case .idle, .ended: nil
    case .waiting: .waiting
    case .running(let transfer): transfer.progress
    }
  }

  /// Releases the resources of the request.
  final func end() {
    client.deadlines.remove(self)
    let state = self.state
    self.state = .ended
    switch state {
    case .running(let transfer): client.stop(self, transfer)
    case .waiting: client.leave(self)
    case .idle, .ended: break
    }
    guard request.body != nil else { return }
    measuring.take()?.cancel()
    upload.take()?.cancel()
  }
}

/// An exchange that delivers its response when it is complete.
final class WholeExchange: HTTPExchange, RequestedWork {
  @exclusivity(unchecked) private var settle: ((Result<HTTPResponse, HTTPError>) -> Void)?

  func start(_ settle: @escaping (Result<HTTPResponse, HTTPError>) -> Void) {
    self.settle = settle
    begin()
  }

  func cancel() {
    settle = nil
    end()
  }

  override func deliver(_ result: Result<HTTPResponse, HTTPError>) {
    end()
    settle.take()?(result)
  }
}

extension HTTPRequest {
  /// The reason why the request can't be sent; `nil` if it can.
  ///
  /// - Parameter address: the request's URL, as contiguous UTF-8.
  package func problem(at address: String) -> String? {
    // Without the URL: if its scheme is missing or mistyped, a password in it may not be recognizable.
    guard address.isWebAddress else {
      return "its URL must begin with http:// or https://, not with \"\(url.scheme.map { "\($0):" } ?? "")\""
    }
    if method != .get {
      guard method.isToken else { return "the method \"\(method)\" has characters that HTTP does not allow" }
      if method == .connect { return "CONNECT is for proxies; configure a proxy instead" }
      if body != nil, method == .head || method == .trace { return "\(method) has no body" }
    }
    if url.host()?.isEmpty != false { return "its URL has no host" }
    if let type = body?.contentType, !HTTPSyntax.isValue(type) {
      return "the type of the body has characters that HTTP does not allow"
    }
    guard !headers.isEmpty else { return nil }
    for header in headers {
      guard header.isValid else { return "the \"\(header.name)\" header field has characters that HTTP does not allow" }
      guard !header.delimitsBody else {
        return "the \"\(header.name)\" header field is set from the body; leave it out"
      }
    }
    return nil
  }
}

extension String {
  /// True if the text begins like an http or https URL.
  fileprivate var isWebAddress: Bool {
    utf8.withContiguousStorageIfAvailable { bytes in
      ["http:", "https:"].contains { (scheme: StaticString) in
        bytes.count > scheme.utf8CodeUnitCount
          && strncasecmp(bytes.baseAddress!, scheme.utf8Start, scheme.utf8CodeUnitCount) == 0
      } && bytes.contains(UInt8(ascii: "/"))
    } ?? false
  }

  fileprivate var hasHTTPS: Bool {
    utf8.withContiguousStorageIfAvailable { $0.count > 6 && strncasecmp($0.baseAddress!, "https:", 6) == 0 } ?? false
  }

  /// A hash of everything before the path: a URL's scheme, host and port.
  fileprivate var hostKey: Int {
    var hasher = Hasher()
    var slashes = 0
    var text = self
    // A URL is contiguous, so this copies nothing; bytes are faster to read than characters.
    text.withUTF8 { bytes in
      let end = bytes.firstIndex { byte in
        if byte == UInt8(ascii: "/") { slashes += 1 }
        return slashes == 3 || byte == UInt8(ascii: "?") || byte == UInt8(ascii: "#")
      }
      hasher.combine(bytes: UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(bytes)[..<(end ?? bytes.count)]))
    }
    return hasher.finalize()
  }
}
