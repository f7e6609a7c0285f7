internal import CCurl
import Foundation

/// One of libcurl's easy handles, used for one request after another.
final class CurlTransfer {
  /// The handle. This object owns it; the multi handle uses it while the request runs.
  let easy: UnsafeMutableRawPointer
  /// The present request.
  @exclusivity(unchecked)  // Here and below: touched for every line and every piece of a body, on one thread.
  var exchange: HTTPExchange?
  /// Its index in the client's list of running transfers.
  var index = -1
  @exclusivity(unchecked) private(set) var reader: ResponseReader
  private let sockets: CurlSockets
  /// True when there was no descriptor for a connection of this request; libcurl only reports that it could not
  /// connect.
  private var lackedDescriptor = false
  private var hasOpenedSocket = false
  // The number of progress reports of libcurl in the turn with this number.
  private var progress = (turn: 0, calls: 0)
  private let maxRedirects: Int
  // libcurl writes a sentence here when a request fails; it keeps the address as long as the handle.
  private let sentence = UnsafeMutablePointer<CChar>.allocate(capacity: Int(CURL_ERROR_SIZE))
  private var headers: UnsafeMutablePointer<curl_slist>?

  /// - Returns: `nil` when there is no memory.
  init?(_ configuration: CurlHTTPClient.Configuration, sockets: CurlSockets) {
    CurlLibrary.start()
    guard let easy = curl_easy_init() else { return nil }
    self.easy = easy
    self.sockets = sockets
    reader = ResponseReader(
      maxHeaderBytes: configuration.maxHeaderBytes, maxHeaderLines: configuration.maxHeaderLines)
    maxRedirects = configuration.maxRedirects
    sentence.initialize(repeating: 0, count: Int(CURL_ERROR_SIZE))
    setUp(configuration)
    sockets.watch(easy)
  }

  deinit {
    curl_easy_cleanup(easy)
    curl_slist_free_all(headers)
    sentence.deallocate()
  }

  /// Sets the options that are the same for every request.
  private func setUp(_ configuration: CurlHTTPClient.Configuration) {
    // The callbacks run only while this object exists, since it owns the handle.
    let this = Unmanaged.passUnretained(self).toOpaque()
    ccurl_set_pointer(easy, CURLOPT_PRIVATE, this)
    ccurl_set_pointer(easy, CURLOPT_ERRORBUFFER, sentence)
    ccurl_set_pointer(easy, CURLOPT_WRITEDATA, this)
    ccurl_set_pointer(easy, CURLOPT_HEADERDATA, this)
    ccurl_set_write(easy, CURLOPT_WRITEFUNCTION) { bytes, size, count, this in
      let transfer = Unmanaged<CurlTransfer>.fromOpaque(this!).takeUnretainedValue()
      if transfer.reader.isFull { return ccurl_write_pause() }
      let bytes = UnsafeRawBufferPointer(start: bytes, count: size * count)
      transfer.exchange?.noteArrival()
      return transfer.reader.body(bytes, announced: { transfer.number(CURLINFO_CONTENT_LENGTH_DOWNLOAD_T) })
        ? bytes.count : 0
    }
    ccurl_set_write(easy, CURLOPT_HEADERFUNCTION) { bytes, size, count, this in
      let transfer = Unmanaged<CurlTransfer>.fromOpaque(this!).takeUnretainedValue()
      let bytes = UnsafeRawBufferPointer(start: bytes, count: size * count)
      return transfer.reader.header(bytes) ? bytes.count : 0
    }
    ccurl_set_pointer(easy, CURLOPT_OPENSOCKETDATA, this)
    ccurl_set_opensocket(easy) { this, _, address in
      let transfer = Unmanaged<CurlTransfer>.fromOpaque(this!).takeUnretainedValue()
      let descriptor = transfer.sockets.open(address!.pointee)
      if descriptor < 0, errno == EMFILE || errno == ENFILE { transfer.lackedDescriptor = true }
      if descriptor >= 0 { transfer.hasOpenedSocket = true }
      return descriptor
    }
    ccurl_set_long(easy, CURLOPT_NOSIGNAL, 1)
    // Without this, ending a request during the look-up of its host would block the loop until the look-up ends; the
    // thread that looks up cleans up after itself instead.
    ccurl_set_long(easy, CURLOPT_QUICK_EXIT, 1)
    ccurl_set_pointer(easy, CURLOPT_PROTOCOLS_STR, "http,https")
    ccurl_set_pointer(easy, CURLOPT_REDIR_PROTOCOLS_STR, "http,https")
    ccurl_set_long(easy, CURLOPT_FOLLOWLOCATION, 1)
    ccurl_set_long(easy, CURLOPT_MAXREDIRS, configuration.maxRedirects)
    ccurl_set_long(easy, CURLOPT_HTTP_VERSION, Int(CURL_HTTP_VERSION_2TLS))
    ccurl_set_long(easy, CURLOPT_HTTP09_ALLOWED, 0)
    ccurl_set_long(easy, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1)
    // Compressed data is offered and recognized here, and decoded in `ContentDecoder`.
    ccurl_set_pointer(easy, CURLOPT_ACCEPT_ENCODING, ContentCoding.offer)
    ccurl_set_long(easy, CURLOPT_HTTP_CONTENT_DECODING, 0)
    ccurl_set_pointer(easy, CURLOPT_USERAGENT, configuration.userAgent)
    if let file = configuration.certificateAuthorities { ccurl_set_pointer(easy, CURLOPT_CAINFO, file) }
    if configuration.usesProxies { boundProxies() } else { ccurl_set_pointer(easy, CURLOPT_PROXY, "") }
  }

  /// Limits a proxy's answer before it connects: libcurl (7.88) reads it byte by byte and does not return to the loop
  /// as long as there is more, and without counting.
  private func boundProxies() {
    // The callback slows down every request.
    guard Self.hasProxy else { return }
    ccurl_set_pointer(easy, CURLOPT_XFERINFODATA, Unmanaged.passUnretained(self).toOpaque())
    ccurl_set_progress(easy) { this, _, _, _, _ in
      Unmanaged<CurlTransfer>.fromOpaque(this!).takeUnretainedValue().isStuck ? 1 : 0
    }
    ccurl_set_long(easy, CURLOPT_NOPROGRESS, 0)
  }

  /// True when the environment names a proxy.
  static var hasProxy: Bool {
    ["http_proxy", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"]
      .contains { (name: String) in getenv(name) != nil }
  }

  /// True when libcurl takes more steps without returning to the loop than any answer needs; called at every step.
  private var isStuck: Bool {
    if progress.turn != sockets.turn { progress = (sockets.turn, 0) }
    progress.calls += 1
    return progress.calls > 256 << 10
  }

  /// The transfer of an easy handle made here.
  static func of(_ easy: UnsafeMutableRawPointer) -> CurlTransfer {
    var this: UnsafeMutableRawPointer?
    ccurl_get_pointer(easy, CURLINFO_PRIVATE, &this)
    return Unmanaged<CurlTransfer>.fromOpaque(this!).takeUnretainedValue()
  }
}

// MARK: - One request

extension CurlTransfer {
  /// Prepares the handle for `request`, whose URL is `address`.
  ///
  /// - Parameter stream: the destination of the body while it arrives; without one, it is collected.
  func prepare(_ request: HTTPRequest, at address: String, into stream: BodyStream?) {
    reader.begin(maxBodyBytes: request.maxBodyBytes, into: stream)
    sentence.pointee = 0
    lackedDescriptor = false
    hasOpenedSocket = false
    ccurl_set_pointer(easy, CURLOPT_URL, address)
    // 0 would mean libcurl's own default of five minutes.
    let connect = max(1, min(request.connectTimeout.nanoseconds / 1_000_000, Int64(Int32.max)))
    ccurl_set_long(easy, CURLOPT_CONNECTTIMEOUT_MS, Int(connect))
    set(request.headers)
  }

  private func set(_ fields: [HTTPRequest.Header]) {
    guard headers != nil || !fields.isEmpty else { return }
    curl_slist_free_all(headers)
    headers = nil
    for field in fields {
      // A field without a value ends with a semicolon: with a colon, libcurl would remove it.
      headers = curl_slist_append(headers, field.value.isEmpty ? "\(field.name);" : "\(field.name): \(field.value)")
    }
    ccurl_set_pointer(easy, CURLOPT_HTTPHEADER, headers)
  }

  /// Releases what was received.
  func reset() {
    exchange = nil
    reader.discard()
  }

  /// The result of `request`, which ended with `code`.
  func result(of request: HTTPRequest, _ code: CURLcode) -> Result<HTTPResponse, HTTPError> {
    if code == CURLE_OK { reader.end() }
    guard code == CURLE_OK, reader.failure == nil else { return .failure(error(of: request, code)) }
    let (status, headers, url) = head(of: request)
    return .success(HTTPResponse(status: status, headers: headers, body: reader.takeBody(), url: url))
  }

  /// The head of the final answer, once its body arrives.
  func head(of request: HTTPRequest) -> (status: Int, headers: HTTPHeaders, url: URL) {
    (
      integer(CURLINFO_RESPONSE_CODE), reader.headers,
      integer(CURLINFO_REDIRECT_COUNT) == 0 ? request.url : effectiveURL ?? request.url
    )
  }
}

// MARK: - Information from libcurl

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

  private var effectiveURL: URL? {
    var text: UnsafePointer<CChar>?
    ccurl_get_string(easy, CURLINFO_EFFECTIVE_URL, &text)
    return text.flatMap { URL(string: String(cString: $0)) }
  }

  /// The phase of the request.
  var phase: HTTPError.Phase {
    if number(CURLINFO_NAMELOOKUP_TIME_T) == 0 { return .nameResolution }
    // CONNECT_TIME includes the handshake; the socket has a local port as soon as it is connected.
    if number(CURLINFO_PRETRANSFER_TIME_T) == 0 { return integer(CURLINFO_LOCAL_PORT) == 0 ? .connect : .tls }
    return number(CURLINFO_STARTTRANSFER_TIME_T) == 0 ? .response : .receive
  }

  /// True while it has neither a descriptor nor a connection.
  var hasNoConnection: Bool {
    switch phase {
    case .nameResolution: true
    case .connect: !hasOpenedSocket
    default: false
    }
  }

  /// The error of a request that ended with `code`, or with what the reader found.
  func error(of request: HTTPRequest, _ code: CURLcode = CURLE_WRITE_ERROR) -> HTTPError {
    let host = (effectiveURL ?? request.url).hostAndPort
    if let kind = reader.failure { return HTTPError(kind, host: host, cause: reader.cause) }
    let failure = failure(code)
    // libcurl's address is then the one that it did not go to.
    let isRefused = failure.kind == .redirectRefused
    return HTTPError(failure.kind, host: isRefused ? request.url.hostAndPort : host, cause: failure.cause)
  }

  /// True when a request that ended with `code` failed because no descriptor or thread was left.
  func isExhausted(_ code: CURLcode) -> Bool { failure(code).isExhaustion }

  private func failure(_ code: CURLcode) -> CurlFailure {
    CurlFailure(
      code: code, sentence: String(cString: sentence),
      systemError: Int32(truncatingIfNeeded: integer(CURLINFO_OS_ERRNO)), phase: phase,
      redirects: integer(CURLINFO_REDIRECT_COUNT), maxRedirects: maxRedirects, lackedDescriptor: lackedDescriptor,
      host: effectiveURL?.host() ?? "")
  }

  /// The error of a request that timed out.
  func timeoutError(of request: HTTPRequest) -> HTTPError {
    HTTPError(
      .timedOut(phase), host: (effectiveURL ?? request.url).hostAndPort,
      cause: "no more than \(request.timeout) are allowed")
  }
}
