internal import CCurl
import Foundation
import PlainText

/// Information from libcurl: the progress of a request, and the reason why it failed.
extension CurlTransfer {
  func integer(_ info: CURLINFO) -> Int {
    var value = 0
    ccurl_get_long(easy, info, &value)
    return value
  }

  func number(_ info: CURLINFO) -> Int {
    var value: curl_off_t = 0
    ccurl_get_off(easy, info, &value)
    return Int(value)
  }

  /// The phase of the request.
  var phase: HTTPError.Phase {
    if number(CURLINFO_NAMELOOKUP_TIME_T) == 0 { return .nameResolution }
    // CONNECT_TIME includes the handshake; the socket has a local port as soon as it is connected.
    if number(CURLINFO_PRETRANSFER_TIME_T) == 0 { return integer(CURLINFO_LOCAL_PORT) == 0 ? .connect : .tls }
    // While a request body is being sent, libcurl also sets STARTTRANSFER_TIME at that body's first byte.
    if upload != nil, let exchange, reader.headerSize == exchange.headerSize { return .response }
    return number(CURLINFO_STARTTRANSFER_TIME_T) == 0 ? .response : .receive
  }

  var progress: HTTPProgress {
    switch phase {
    case .waiting: .waiting
    case .nameResolution: .lookingUp
    case .connect: .connecting
    case .tls: .securing
    case .response: .requesting
    case .receive: received
    }
  }

  private var received: HTTPProgress {
    let announced = number(CURLINFO_CONTENT_LENGTH_DOWNLOAD_T)
    return .receiving(bytes: number(CURLINFO_SIZE_DOWNLOAD_T), of: announced > 0 ? announced : nil)
  }

  /// True while the request has neither a descriptor nor a connection.
  var hasNoConnection: Bool {
    switch phase {
    case .nameResolution: true
    case .connect: !hasOpenedSocket
    default: false
    }
  }

  /// The error of a request that ended with `code`, or with an error that the reader found.
  func error(of exchange: HTTPExchange, _ code: CURLcode = CURLE_WRITE_ERROR) -> HTTPError {
    let host = exchange.request.url.hostAndPort
    if let kind = reader.failure { return HTTPError(kind, host: host, cause: reader.cause) }
    if wasKeptFromRepeating {
      return HTTPError(
        .send, host: host,
        cause: "the server closed it; \(exchange.request.method) is not retried automatically")
    }
    let failure = failure(of: exchange, code)
    // Names the host that sent the refused redirect.
    let culprit = failure.kind == .redirectRefused ? exchange.redirects.last?.from.hostAndPort : nil
    return HTTPError(failure.kind, host: culprit ?? host, cause: failure.cause)
  }

  /// True when a request that ended with `code` failed because no file descriptor or thread was left.
  func isExhausted(_ exchange: HTTPExchange, _ code: CURLcode) -> Bool { failure(of: exchange, code).isExhaustion }

  private func failure(of exchange: HTTPExchange, _ code: CURLcode) -> CurlFailure {
    CurlFailure(
      code: code, sentence: String(cString: sentence),
      systemError: Int32(truncatingIfNeeded: integer(CURLINFO_OS_ERRNO)), phase: phase,
      isAfterRedirect: !exchange.redirects.isEmpty, lackedDescriptor: lackedDescriptor,
      host: exchange.request.url.host() ?? "", mayUseProxy: !isDirect)
  }

  /// The error of a request that timed out.
  func timeoutError(of request: HTTPRequest) -> HTTPError {
    HTTPError(
      .timedOut(phase), host: request.url.hostAndPort,
      cause: "the limit is \(request.timeout.duration.brief)")
  }
}
