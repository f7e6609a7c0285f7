internal import CCurl
import Foundation

/// One of libcurl's easy handles, used for one request after another.
final class CurlTransfer {
  /// The handle. This object owns it; the multi handle uses it while the request runs.
  let easy: UnsafeMutableRawPointer
  /// The current request.
  @exclusivity(unchecked)  // Here and below: used for every line and every piece of a body, on one thread.
  var exchange: HTTPExchange?
  /// The index of this transfer in the client's list of running transfers.
  var index = -1
  @exclusivity(unchecked) private(set) var reader: ResponseReader
  let sockets: CurlSockets
  let networkGuard: NetworkGuard
  /// The address in a private network to which this transfer refused to connect.
  var refused: NetworkAddress?
  var isGuarded = false
  /// True if there was no file descriptor for this request's connection; libcurl reports only that it could not
  /// connect.
  private(set) var lackedDescriptor = false
  private(set) var hasOpenedSocket = false
  // A turn of the loop, and the number of libcurl's progress reports in it.
  var steps = (turn: 0, calls: 0)
  private var offeredCodings: String?
  // libcurl writes an error message here when a request fails; it keeps the pointer as long as the handle exists.
  let sentence = UnsafeMutablePointer<CChar>.allocate(capacity: Int(CURL_ERROR_SIZE))
  var headers: UnsafeMutablePointer<curl_slist>?
  private let names: [String: [String]]
  let signer: RequestSigner?
  private var resolved: UnsafeMutablePointer<curl_slist>?
  /// The request's body.
  var upload: BodyUpload?
  /// The number of times that libcurl has begun to send the request.
  var sends = 0
  /// True if libcurl was prevented from repeating a request that must not be repeated.
  var wasKeptFromRepeating = false
  /// True for GET without a body, which needs no further settings.
  var isPlain = true
  private let configuredProxy: HTTPProxy
  private let environment: ProxyVariables
  /// The proxy of the current request; empty if there is none.
  var proxy = ""
  /// True if no proxy makes the connection.
  var isDirect: Bool { proxy.isEmpty }
  /// The TLS connection whose closing marks the end of the body.
  private var connection: UnsafeMutableRawPointer?
  /// True if that connection ended with `close_notify`.
  private var isConnectionEnded = false

  /// - Returns: `nil` if there is no memory.
  init?(
    _ configuration: CurlHTTPClient.Configuration, _ environment: ProxyVariables, sockets: CurlSockets,
    _ networkGuard: NetworkGuard
  ) {
    CurlLibrary.start()
    guard let easy = curl_easy_init() else { return nil }
    self.easy = easy
    self.sockets = sockets
    self.networkGuard = networkGuard
    names = configuration.addresses
    signer = configuration.signer
    configuredProxy = configuration.proxy ?? (configuration.usesProxies ? .environment : .none)
    self.environment = environment
    reader = ResponseReader(
      maxHeaderBytes: configuration.maxHeaderBytes, maxHeaderLines: configuration.maxHeaderLines)
    sentence.initialize(repeating: 0, count: Int(CURL_ERROR_SIZE))
    setUp(configuration)
    sockets.watch(easy)
  }

  deinit {
    curl_easy_cleanup(easy)
    curl_slist_free_all(headers)
    curl_slist_free_all(resolved)
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
      if !transfer.reader.isRedirect { transfer.exchange?.noteArrival() }
      return transfer.reader.body(bytes, announced: { transfer.number(CURLINFO_CONTENT_LENGTH_DOWNLOAD_T) })
        ? bytes.count : 0
    }
    ccurl_set_write(easy, CURLOPT_HEADERFUNCTION) { bytes, size, count, this in
      let bytes = UnsafeRawBufferPointer(start: bytes, count: size * count)
      // Called for each line, so without reference counting: the transfer exists for as long as its handle.
      let isAccepted = Unmanaged<CurlTransfer>.fromOpaque(this!)._withUnsafeGuaranteedRef { $0.take(header: bytes) }
      return isAccepted ? bytes.count : 0
    }
    ccurl_set_pointer(easy, CURLOPT_OPENSOCKETDATA, this)
    ccurl_set_opensocket(easy) { this, _, address in
      let transfer = Unmanaged<CurlTransfer>.fromOpaque(this!).takeUnretainedValue()
      guard transfer.mayConnect(to: address!) else { return -1 }
      let descriptor = transfer.sockets.open(address!.pointee)
      if descriptor < 0, errno == EMFILE || errno == ENFILE { transfer.lackedDescriptor = true }
      if descriptor >= 0 { transfer.hasOpenedSocket = true }
      return descriptor
    }
    ccurl_set_long(easy, CURLOPT_NOSIGNAL, 1)
    // Without this, ending a request during the lookup of its host would block the loop until the lookup ends. With it,
    // the lookup's thread cleans up after itself.
    ccurl_set_long(easy, CURLOPT_QUICK_EXIT, 1)
    ccurl_set_pointer(easy, CURLOPT_PROTOCOLS_STR, "http,https")
    // Redirects are followed in `HTTPExchange`, which determines the fields that may be sent along.
    ccurl_set_long(easy, CURLOPT_FOLLOWLOCATION, 0)
    ccurl_set_long(easy, CURLOPT_HTTP_VERSION, Int(CURL_HTTP_VERSION_2TLS))
    ccurl_set_long(easy, CURLOPT_HTTP09_ALLOWED, 0)
    ccurl_set_long(easy, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1)
    // Compression is offered and recognized here; the data is decoded in `ContentDecoder`.
    offer(ContentCoding.offer)
    ccurl_set_long(easy, CURLOPT_HTTP_CONTENT_DECODING, 0)
    ccurl_set_pointer(easy, CURLOPT_USERAGENT, configuration.userAgent)
    if let file = configuration.certificateAuthorities {
      ccurl_set_pointer(easy, CURLOPT_CAINFO, file)
      // Otherwise, the certificates in the system's folder would be trusted, too.
      ccurl_set_pointer(easy, CURLOPT_CAPATH, nil)
    }
    if let folder = configuration.certificateFolder { ccurl_set_pointer(easy, CURLOPT_CAPATH, folder) }
    setUpSending(this)
    // libcurl itself must not look for proxies and exceptions in the environment.
    ccurl_set_pointer(easy, CURLOPT_NOPROXY, "")
    apply(proxy)
  }

  private func take(header line: UnsafeRawBufferPointer) -> Bool {
    guard reader.header(line) else { return false }
    if isConsentRefused {
      exchange?.hasConsent = reader.hasConsented
      return false
    }
    if reader.isRedirect {
      // This connection can't be reused, so there is no reason to read the body.
      if reader.endsWithConnection { return false }
      exchange?.skipBody()
    }
    if reader.endsWithConnection, connection == nil { expectEnd() }
    // The first byte of the body may come much later, such as the first event of a stream.
    if reader.hasFinalHeader, !reader.isRedirect { exchange?.noteArrival() }
    return true
  }

  /// Observes the end of the connection if that is also the end of the body.
  private func expectEnd() {
    guard exchange?.isSecure == true else { return }
    isConnectionEnded = false
    connection = sockets.endings.expect(self)
  }

  /// Called when the server has sent `close_notify`.
  func connectionEnded() { isConnectionEnded = true }

  private func offer(_ codings: String?) {
    ccurl_set_pointer(easy, CURLOPT_ACCEPT_ENCODING, codings)
    offeredCodings = codings
  }

  /// The transfer that owns an easy handle.
  static func of(_ easy: UnsafeMutableRawPointer) -> CurlTransfer {
    var this: UnsafeMutableRawPointer?
    ccurl_get_pointer(easy, CURLINFO_PRIVATE, &this)
    return Unmanaged<CurlTransfer>.fromOpaque(this!).takeUnretainedValue()
  }
}

// MARK: - One request

extension CurlTransfer {
  /// Prepares the handle for `exchange`'s request.
  func prepare(for exchange: HTTPExchange) {
    let request = exchange.request
    reader.begin(request, after: exchange.headerSize, into: exchange.stream)
    // A part of a compressed body could not be decoded. Without an offer, a server may choose any coding.
    let codings = !request.decodesContent ? nil : request.has("Range") ? "identity" : ContentCoding.offer
    if codings != offeredCodings { offer(codings) }
    sentence.pointee = 0
    lackedDescriptor = false
    hasOpenedSocket = false
    refused = nil
    let proxy = (request.proxy ?? configuredProxy).address(for: request.url, in: environment)
    if proxy != self.proxy { apply(proxy) }
    (sends, wasKeptFromRepeating) = (0, false)
    let isGuarded = request.origin != nil && isDirect || !(request.isRepeatable ?? request.method.isIdempotent)
    if isGuarded != self.isGuarded { judgeConnections(isGuarded) }
    ccurl_set_pointer(easy, CURLOPT_URL, exchange.address)
    if !names.isEmpty { name(request.url) }
    // 0 would mean libcurl's own default of five minutes.
    let connect = max(1, min(request.connectTimeout.nanoseconds / 1_000_000, Int64(Int32.max)))
    ccurl_set_long(easy, CURLOPT_CONNECTTIMEOUT_MS, Int(connect))
    set(fields(of: request), expectation(of: exchange))
    setMethod(request, exchange.upload)
  }

  /// Sets the addresses that a test provides for a request's host.
  private func name(_ url: URL) {
    guard let host = url.host()?.lowercased(), let addresses = names[host] else { return }
    curl_slist_free_all(resolved)
    resolved = curl_slist_append(nil, "\(host):\(url.portInUse):\(addresses.joined(separator: ","))")
    ccurl_set_pointer(easy, CURLOPT_RESOLVE, resolved)
  }

  /// Releases the received bytes.
  func reset() {
    exchange = nil
    upload = nil
    if let connection = connection.take() { sockets.endings.forget(connection) }
    reader.discard()
  }

  /// The result of `exchange`'s request, which ended with `code`.
  func result(of exchange: HTTPExchange, _ code: CURLcode) -> Result<HTTPResponse, HTTPError> {
    if code == CURLE_OK { reader.end(isCut: connection != nil && !isConnectionEnded) }
    // The body of a response that is followed isn't used, so an error in it doesn't matter.
    guard code == CURLE_OK || reader.isRedirect || isConsentRefused, reader.failure == nil else {
      return .failure(error(of: exchange, code))
    }
    var response = HTTPResponse(
      status: integer(CURLINFO_RESPONSE_CODE), headers: reader.headers, body: reader.takeBody(),
      url: exchange.request.url, redirects: exchange.redirects)
    response.isPrivate = notePeer(of: exchange)
    return .success(response)
  }

  /// The head of the response, once it has arrived.
  func head(of exchange: HTTPExchange) -> HTTPResponse {
    var head = HTTPResponse(
      status: integer(CURLINFO_RESPONSE_CODE), headers: reader.headers, body: Data(), url: exchange.request.url,
      redirects: exchange.redirects)
    head.isPrivate = notePeer(of: exchange)
    return head
  }
}
